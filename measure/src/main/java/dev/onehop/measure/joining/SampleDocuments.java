package dev.onehop.measure.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.bson.BsonDateTime;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.codecs.DocumentCodec;

/**
 * Creates documents like POCDriver's documents, of some 1 KB. A document has numbers, dates, texts,
 * nested arrays, a subdocument, and a key of two parts. The same seed gives the same documents.
 */
final class SampleDocuments {

  /** The number of fields that can be indexed: {@code fld0} and so on. */
  static final int FIELDS = 10;

  private static final DocumentCodec CODEC = new DocumentCodec();
  private static final String[] WORDS =
      ("the quick brown fox jumps over a lazy dog while many old sailors tell long stories of far"
              + " islands storms silver harbours lost maps and songs that nobody has written down")
          .split(" ", -1);
  private static final long FIRST_DAY = 1_500_000_000_000L;
  private static final int LONG_TEXT = 90;

  private final Random random;
  private final int collection;
  private int next;

  SampleDocuments(long seed, int collection) {
    this.random = new Random(seed * 31 + collection);
    this.collection = collection;
  }

  RawBsonDocument next() {
    Document document = new Document("_id", new Document("w", collection).append("i", next++));
    for (int field = 0; field < FIELDS; field++) {
      document.append("fld" + field, value(field));
    }
    List<List<Integer>> arrays = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      List<Integer> array = new ArrayList<>();
      for (int k = 0; k < 5; k++) {
        array.add(random.nextInt(100));
      }
      arrays.add(array);
    }
    document.append("arr", arrays);
    document.append(
        "nested",
        new Document("n", random.nextLong())
            .append("inner", new Document("name", text(2)).append("score", random.nextDouble())));
    document.append("text", text(LONG_TEXT));
    return new RawBsonDocument(document, CODEC);
  }

  private Object value(int field) {
    return switch (field % 3) {
      case 0 -> random.nextInt(10_000_000);
      case 1 -> new BsonDateTime(FIRST_DAY + random.nextInt(Integer.MAX_VALUE));
      default -> text(4);
    };
  }

  private String text(int words) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < words; i++) {
      text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
    }
    return text.toString();
  }
}
