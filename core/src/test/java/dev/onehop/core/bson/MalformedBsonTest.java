package dev.onehop.core.bson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.core.reference.RandomBson;
import dev.onehop.core.reference.RandomCases;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.table.ShardKeyPattern;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonJavaScriptWithScope;
import org.bson.BsonRegularExpression;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Broken bytes cause a {@link MalformedBsonException} or give a key. No other exception occurs. */
class MalformedBsonTest {
  private static final int MUTANTS = 500;
  private static final BsonPath PATH = BsonPath.of("v");
  private static final List<ShardKeyPattern> PATTERNS =
      Stream.of("{v: 1}", "{v: 'hashed'}", "{'v.a': 1, w: -1}", "{w: 1, 'v.a.a': 'hashed'}")
          .map(pattern -> ShardKeyPattern.of(BsonDocument.parse(pattern)))
          .toList();

  /**
   * Each case has the bytes of a document and a part of the message about the error in these bytes.
   */
  @ParameterizedTest
  @CsvSource({
    "'', a document of 0 bytes",
    "05000000, a document of 4 bytes",
    "0600000000, a document has a length of 6 bytes",
    "0500000001, does not end with 0x00",
    "08000000107600 00, ends too early",
    "08000000107600 01, does not end with 0x00",
    "09000000 10 764141 00, a name or C string without end",
    "0b000000 42 7600 000000 00, unknown type 66",
    "0c000000 02 7600 00000000 00, a string of 0 bytes",
    "0c000000 02 7600 ffffff7f 00, a string of 2147483647 bytes",
    "0e000000 02 7600 02000000 6161 00, does not end with 0x00",
    "0d000000 05 7600 ffffffff 00 00, binary data of -1 bytes",
    "0d000000 05 7600 09000000 00 00, binary data of 9 bytes",
    "0d000000 03 7600 04000000 00 00, a document of 4 bytes",
    "0d000000 03 7600 ff000000 00 00, a document of 255 bytes",
    "09000000 08 7600 02 00, neither 0 nor 1",
    "0a000000 0b 7600 6161 00, without end",
    "18000000 0f 7600 10000000 01000000 00 0500000000 0000 00, code with scope whose length is not the sum",
  })
  void messageNamesErrorAndPosition(String hex, String message) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    assertThatThrownBy(() -> keyOfFirst(bytes))
        .isInstanceOf(MalformedBsonException.class)
        .hasMessageContaining(message)
        .hasMessageMatching("(?s).*at byte \\d+.*");
  }

  @Test
  void rejectsDocumentsNestedTooDeep() {
    BsonValue value = new BsonInt32(1);
    for (int i = 0; i < 1_000; i++) {
      value = new BsonDocument("v", value);
    }
    BsonValue deep = value;
    assertThatThrownBy(() -> SortableKey.encode(deep))
        .isInstanceOf(MalformedBsonException.class)
        .hasMessageContaining("nested deeper");
    assertThatThrownBy(() -> HashedKey.hash(deep))
        .isInstanceOf(MalformedBsonException.class)
        .hasMessageContaining("nested deeper");
  }

  @Test
  void rejectsNulCharacterInNamesAndPatterns() {
    assertThatThrownBy(() -> SortableKey.encode(new BsonDocument("a\0b", new BsonInt32(1))))
        .isInstanceOf(MalformedBsonException.class);
    assertThatThrownBy(() -> SortableKey.encode(new BsonRegularExpression("a\0b")))
        .isInstanceOf(MalformedBsonException.class);
  }

  @Test
  void rejectsEveryTruncatedDocument() {
    byte[] bytes = bytesOf(sample());
    for (int length = 0; length < bytes.length; length++) {
      byte[] truncated = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> keyOfFirst(truncated))
          .as("%d bytes", length)
          .isInstanceOf(MalformedBsonException.class);
    }
  }

  @Test
  void mutatedDocumentsGiveKeyOrExpectedException() {
    RandomCases.check(200, MalformedBsonTest::checkMutatedDocuments);
  }

  private static void checkMutatedDocuments(Random random) {
    RandomBson values = new RandomBson(random);
    for (int i = 0; i < MUTANTS; i++) {
      BsonDocument document = new BsonDocument("u", values.value(1)).append("v", values.value(3));
      byte[] bytes = mutated(bytesOf(document), random);
      try {
        useAll(bytes);
      } catch (MalformedBsonException | ShardKeyException expected) {
        assertThat(expected).hasMessageNotContaining("Index");
      } catch (RuntimeException e) {
        throw new AssertionError("bytes %s".formatted(HexFormat.of().formatHex(bytes)), e);
      }
    }
  }

  @Test
  void mutatedKeysDecodeOrThrowExpectedException() {
    RandomCases.check(60, MalformedBsonTest::checkMutatedKeys);
  }

  private static void checkMutatedKeys(Random random) {
    RandomBson values = new RandomBson(random);
    for (int i = 0; i < MUTANTS; i++) {
      byte[] key = mutated(SortableKey.encode(values.value(2)), random);
      try {
        SortableKey.encode(SortableKey.decode(key));
      } catch (MalformedBsonException expected) {
        assertThat(expected).hasMessageNotContaining("Index");
      } catch (RuntimeException e) {
        throw new AssertionError("key %s".formatted(HexFormat.of().formatHex(key)), e);
      }
    }
  }

  private static void useAll(byte[] bytes) {
    RuntimeException first = null;
    for (ShardKeyPattern pattern : PATTERNS) {
      if (bytes.length < 5) {
        break; // RawBsonDocument refuses so few bytes.
      }
      try {
        pattern.keyOf(new RawBsonDocument(bytes));
      } catch (MalformedBsonException | ShardKeyException e) {
        first = e;
      }
    }
    BsonPath.Located located = PATH.find(bytes, 0, bytes.length);
    if (located != null) {
      HashedKey.hash(located);
      new SortableKeyBuilder(8).add(located, true).build();
      located.value();
    }
    if (first != null) {
      throw first;
    }
  }

  private static byte[] mutated(byte[] original, Random random) {
    byte[] bytes = original.clone();
    for (int i = random.nextInt(3); i >= 0 && bytes.length > 0; i--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(6)) {
        case 0 -> bytes[at] = (byte) random.nextInt();
        case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> bytes[at] = new byte[] {0, 1, 0x7F, (byte) 0x80, (byte) 0xFF}[random.nextInt(5)];
        case 3 -> bytes = withLength(Arrays.copyOf(bytes, at));
        case 4 -> {
          byte[] grown = Arrays.copyOf(bytes, bytes.length + 1);
          System.arraycopy(bytes, at, grown, at + 1, bytes.length - at);
          bytes = withLength(grown);
        }
        default -> {
          byte[] swapped = bytes.clone();
          swapped[at] = bytes[random.nextInt(bytes.length)];
          bytes = swapped;
        }
      }
    }
    return bytes;
  }

  /** Corrects the length at the start of the document, so that the parser reads the rest. */
  private static byte[] withLength(byte[] bytes) {
    if (bytes.length >= 4) {
      ByteOrders.putInt(bytes, 0, Integer.reverseBytes(bytes.length));
      bytes[bytes.length - 1] = 0;
    }
    return bytes;
  }

  private static byte[] keyOfFirst(byte[] bytes) {
    BsonPath.Located located = PATH.find(bytes, 0, bytes.length);
    if (located == null) {
      throw new AssertionError("nothing found");
    }
    return new SortableKeyBuilder(8).add(located, false).build();
  }

  private static BsonDocument sample() {
    return new BsonDocument(
        "v",
        new BsonDocument("a", new BsonString("text"))
            .append("b", new BsonArray(List.of(new BsonInt32(1))))
            .append("c", new BsonBinary(new byte[] {1, 2, 3}))
            .append("d", new BsonRegularExpression("x", "i"))
            .append(
                "e", new BsonJavaScriptWithScope("f", new BsonDocument("g", new BsonInt32(1)))));
  }

  private static byte[] bytesOf(BsonDocument document) {
    RawBsonDocument raw = new RawBsonDocument(document, new BsonDocumentCodec());
    byte[] bytes = new byte[raw.getByteBuffer().remaining()];
    raw.getByteBuffer().get(bytes);
    return bytes;
  }
}
