package dev.onehop.core.bson;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

class ServerVectorsTest {
  private static final BsonPath PATH = BsonPath.of("v");

  @Test
  void keysSortLikeValuesOfServer() {
    List<BsonDocument> lines = Vectors.read("bson-order.jsonl");
    assertThat(lines).hasSizeGreaterThan(100);
    for (int i = 1; i < lines.size(); i++) {
      byte[] before = key(lines.get(i - 1));
      byte[] after = key(lines.get(i));
      boolean tie = lines.get(i).getBoolean("tie", BsonBoolean.FALSE).getValue();
      int order = Integer.signum(SortableKey.compare(before, after));
      assertThat(order).as("%s then %s", lines.get(i - 1), lines.get(i)).isEqualTo(tie ? 0 : -1);
    }
  }

  @Test
  void rawBytesAndDecodedValuesGiveSameKey() {
    for (BsonDocument line : Vectors.read("bson-order.jsonl")) {
      BsonValue value = Objects.requireNonNull(Vectors.document(line).get("v"));
      assertThat(SortableKey.encode(value)).as("%s", line).isEqualTo(key(line));
    }
  }

  @Test
  void encodingDecodedKeyGivesSameKey() {
    for (BsonDocument line : Vectors.read("bson-order.jsonl")) {
      byte[] key = key(line);
      assertThat(SortableKey.encode(SortableKey.decode(key))).as("%s", line).isEqualTo(key);
    }
  }

  @Test
  void hashesEqualThoseOfServer() {
    List<BsonDocument> lines = Vectors.read("hash-vectors.jsonl");
    assertThat(lines).hasSizeGreaterThan(90);
    for (BsonDocument line : lines) {
      long expected = Long.parseLong(line.getString("hash").getValue());
      if (line.containsKey("missing")) {
        assertThat(HashedKey.hash(BsonNull.VALUE)).isEqualTo(expected);
        continue;
      }
      RawBsonDocument document = Vectors.document(line);
      assertThat(HashedKey.hash(Objects.requireNonNull(PATH.find(document))))
          .as("%s", line)
          .isEqualTo(expected);
      assertThat(HashedKey.hash(Objects.requireNonNull(document.get("v"))))
          .as("%s, decoded", line)
          .isEqualTo(expected);
    }
  }

  private static byte[] key(BsonDocument vector) {
    BsonPath.Located value = Objects.requireNonNull(PATH.find(Vectors.document(vector)));
    return new SortableKeyBuilder(16).add(value, false).build();
  }
}
