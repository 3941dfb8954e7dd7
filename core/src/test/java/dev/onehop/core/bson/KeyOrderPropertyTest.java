package dev.onehop.core.bson;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.reference.RandomBson;
import dev.onehop.core.reference.ReferenceOrder;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/** Each try compares many random pairs, for jqwik's own overhead per value is far above theirs. */
class KeyOrderPropertyTest {
  private static final int PAIRS = 1_000;

  @Property(tries = 300)
  void keysCompareAsTheServerComparesValues(@ForAll long seed) {
    RandomBson random = new RandomBson(new Random(seed));
    for (int i = 0; i < PAIRS; i++) {
      BsonValue a = random.value(2);
      BsonValue b = random.value(2);
      check(a, b);
    }
  }

  @Property(tries = 200)
  void numbersCompareByTheirExactValue(@ForAll long seed) {
    RandomBson random = new RandomBson(new Random(seed));
    for (int i = 0; i < PAIRS; i++) {
      check(random.number(), random.number());
    }
  }

  @Property(tries = 200)
  void rawBytesAndDecodedKeysGiveTheSameKey(@ForAll long seed) {
    RandomBson random = new RandomBson(new Random(seed));
    BsonPath path = BsonPath.of("v");
    for (int i = 0; i < 100; i++) {
      BsonValue value = random.value(2);
      byte[] key = SortableKey.encode(value);
      RawBsonDocument raw =
          new RawBsonDocument(new BsonDocument("v", value), new BsonDocumentCodec());
      BsonPath.Located located = path.find(raw);
      assertThat(located).isNotNull();
      assertThat(new SortableKeyBuilder(8).add(located, false).build())
          .as("%s", value)
          .isEqualTo(key);
      assertThat(HashedKey.hash(located)).as("%s", value).isEqualTo(HashedKey.hash(value));
      BsonValue decoded = SortableKey.decode(key);
      assertThat(ReferenceOrder.SIMPLE.compare(decoded, value))
          .as("%s decoded from %s", decoded, value)
          .isZero();
      assertThat(SortableKey.encode(decoded)).isEqualTo(key);
    }
  }

  private static void check(BsonValue a, BsonValue b) {
    int expected = Integer.signum(ReferenceOrder.SIMPLE.compare(a, b));
    int actual = Integer.signum(SortableKey.compare(SortableKey.encode(a), SortableKey.encode(b)));
    if (actual != expected) {
      throw new AssertionError(
          "%s compares as %d with %s, should be %d".formatted(a, actual, b, expected));
    }
  }
}
