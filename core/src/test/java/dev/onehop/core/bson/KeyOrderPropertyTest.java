package dev.onehop.core.bson;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.reference.RandomBson;
import dev.onehop.core.reference.RandomCases;
import dev.onehop.core.reference.ReferenceOrder;
import java.util.Random;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;

/** Checks the order of keys with random values. Each case checks many of them. */
class KeyOrderPropertyTest {
  private static final int PAIRS = 1_000;

  @Test
  void keysCompareLikeReferenceOrder() {
    RandomCases.check(300, KeyOrderPropertyTest::checkValues);
  }

  private static void checkValues(Random generator) {
    RandomBson random = new RandomBson(generator);
    for (int i = 0; i < PAIRS; i++) {
      BsonValue a = random.value(2);
      BsonValue b = random.value(2);
      check(a, b);
    }
  }

  @Test
  void numbersCompareByTheirExactValue() {
    RandomCases.check(200, KeyOrderPropertyTest::checkNumbers);
  }

  private static void checkNumbers(Random generator) {
    RandomBson random = new RandomBson(generator);
    for (int i = 0; i < PAIRS; i++) {
      check(random.number(), random.number());
    }
  }

  @Test
  void rawBytesAndDecodedKeysGiveTheSameKey() {
    RandomCases.check(200, KeyOrderPropertyTest::checkRawBytesAndDecodedKeys);
  }

  private static void checkRawBytesAndDecodedKeys(Random generator) {
    RandomBson random = new RandomBson(generator);
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
