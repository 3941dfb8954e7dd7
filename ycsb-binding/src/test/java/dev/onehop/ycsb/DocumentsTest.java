package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

class DocumentsTest {
  private static final byte[] ALL_BYTES = {0, 1, 127, -128, -1};

  @Test
  void recordHasFormatOfUpstream() {
    BsonDocument record =
        Documents.record("user1", Map.of("field0", new ByteArrayByteIterator(ALL_BYTES)));

    assertThat(record)
        .isEqualTo(
            new BsonDocument("_id", new BsonString("user1"))
                .append("field0", new BsonBinary(ALL_BYTES)));
    assertThat(record.getFirstKey()).isEqualTo("_id");
    assertThat(record.getBinary("field0").getType()).isZero();
  }

  @Test
  void readsWrittenValues() {
    Map<String, ByteIterator> values =
        Map.of(
            "field0", new ByteArrayByteIterator(ALL_BYTES),
            "field1", new StringByteIterator("text"),
            "field2", new ByteArrayByteIterator(new byte[0]));

    Map<String, ByteIterator> read = new HashMap<>();
    Documents.read(Documents.record("user1", values), read);

    assertThat(read).containsOnlyKeys("field0", "field1", "field2");
    assertThat(read.get("field0").toArray()).isEqualTo(ALL_BYTES);
    assertThat(read.get("field1").toArray()).isEqualTo("text".getBytes(StandardCharsets.UTF_8));
    assertThat(read.get("field2").toArray()).isEmpty();
  }

  @Test
  void updateSetsOnlyItsFields() {
    assertThat(Documents.set(Map.of("field3", new ByteArrayByteIterator(ALL_BYTES))))
        .isEqualTo(new BsonDocument("$set", new BsonDocument("field3", new BsonBinary(ALL_BYTES))));
  }

  @Test
  void allFieldsNeedNoProjection() {
    assertThat(Documents.projection(null)).isNull();
    assertThat(Documents.projection(Set.of())).isNull();
  }

  @Test
  void someFieldsAreProjected() {
    assertThat(Documents.projection(Set.of("field1", "field2")))
        .isEqualTo(BsonDocument.parse("{field1: 1, field2: 1}"));
  }

  @Test
  void scanStartsAtKey() {
    assertThat(Documents.fromKey("user5")).isEqualTo(BsonDocument.parse("{_id: {$gte: 'user5'}}"));
  }
}
