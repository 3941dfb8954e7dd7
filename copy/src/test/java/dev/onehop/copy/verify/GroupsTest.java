package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.core.bson.SortableKey;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

class GroupsTest {
  private final AtomicInteger closed = new AtomicInteger();

  private Groups of(Integer... keys) {
    return new Groups(
        Arrays.stream(keys).map(GroupsTest::document).onClose(closed::incrementAndGet),
        "d.c",
        "at");
  }

  private static Group document(int key) {
    BsonInt32 value = new BsonInt32(key);
    return new Group(
        SortableKey.encode(value),
        value,
        RawBsonDocument.parse("{at: " + key + "}").getByteBuffer().asNIO());
  }

  @Test
  void groupsDocumentsByKey() {
    try (Groups groups = of(1, 2, 2, 2, 3)) {
      assertThat(groups.next().fingerprint().count()).isEqualTo(1);
      Group second = groups.next();
      assertThat(second.key()).isEqualTo(new BsonInt32(2));
      assertThat(second.fingerprint().count()).isEqualTo(3);
      assertThat(groups.next().key()).isEqualTo(new BsonInt32(3));
      assertThat(groups.next()).isNull();
    }
    assertThat(closed).hasValue(1);
  }

  @Test
  void lastGroupIsComplete() {
    assertThat(of(1, 1).next().fingerprint().count()).isEqualTo(2);
    assertThat(of().next()).isNull();
  }

  @Test
  void rejectsWrongOrder() {
    Groups groups = of(2, 1);
    assertThatThrownBy(groups::next)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the documents of d.c did not come in the order of at");
  }

  @Test
  void keysOfSampleAreSortedAndDistinct() {
    Sample sample =
        Sample.of(
            List.of(
                RawBsonDocument.parse("{_id: 5, size: 10}"),
                RawBsonDocument.parse("{_id: 'a', size: 40}"),
                RawBsonDocument.parse("{_id: {$maxKey: 1}, size: 10}"),
                RawBsonDocument.parse("{_id: 5.0, size: 20}")),
            "_id");
    assertThat(sample.keys()).hasSize(2);
    assertThat(sample.keys().get(1)).isEqualTo(BsonDocument.parse("{k: 'a'}").get("k"));
    assertThat(sample.averageSize()).isEqualTo(20);
    assertThat(sample.largestSize()).isEqualTo(40);
    assertThat(Sample.of(List.of(), "_id")).isEqualTo(Sample.EMPTY);
  }
}
