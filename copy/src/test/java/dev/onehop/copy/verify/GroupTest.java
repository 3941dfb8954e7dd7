package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;

class GroupTest {
  private static ByteBuffer bytes(String json) {
    return new RawBsonDocument(BsonDocument.parse(json), new BsonDocumentCodec())
        .getByteBuffer()
        .asNIO();
  }

  private static Group group(String... documents) {
    Group group = new Group(new byte[0], new BsonInt32(1), bytes(documents[0]));
    for (int i = 1; i < documents.length; i++) {
      group.add(bytes(documents[i]));
    }
    return group;
  }

  private static void assertDiffer(Group a, Group b) {
    assertThat(a.sameAs(b)).isFalse();
    assertThat(b.sameAs(a)).isFalse();
    assertThat(a.fingerprint()).isNotEqualTo(b.fingerprint());
  }

  private static void assertSame(Group a, Group b) {
    assertThat(a.sameAs(b)).isTrue();
    assertThat(a.fingerprint()).isEqualTo(b.fingerprint());
  }

  @Test
  void comparesEveryByte() {
    assertSame(group("{_id: 1, a: 1}"), group("{_id: 1, a: 1}"));
    assertDiffer(group("{_id: 1, a: 1}"), group("{_id: 1, a: 2}"));
    assertDiffer(group("{_id: 1, a: 1}"), group("{_id: 1, a: {$numberLong: '1'}}"));
    assertDiffer(group("{_id: 1, a: 0.0}"), group("{_id: 1, a: -0.0}"));
    assertDiffer(group("{_id: 1, a: 1, b: 2}"), group("{_id: 1, b: 2, a: 1}"));
    assertDiffer(group("{_id: 1}"), group("{_id: {$numberLong: '1'}}"));
    assertDiffer(group("{_id: 1, a: {b: 1, c: 1}}"), group("{_id: 1, a: {c: 1, b: 1}}"));
    assertDiffer(group("{_id: 1, a: [{b: 2}]}"), group("{_id: 1, a: [{b: 2.0}]}"));
  }

  @Test
  void ignoresOrderOfDocumentsWithSameKey() {
    assertSame(group("{a: 1}", "{a: 2}"), group("{a: 2}", "{a: 1}"));
    assertDiffer(group("{a: 1}", "{a: 1}"), group("{a: 1}"));
    assertDiffer(group("{a: 1}", "{a: 1}"), group("{a: 1}", "{a: 2}"));
    assertDiffer(group("{a: 1}", "{a: 1}"), group("{a: 2}", "{a: 2}"));
  }
}
