package dev.onehop.measure.joining;

import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
    document.append("arr", List.of(array(), array()));
    document.append(
        "nested",
        new Document("n", random.nextLong())
            .append("inner", new Document("name", text(2)).append("score", random.nextDouble())));
    document.append("text", text(LONG_TEXT));
    return new RawBsonDocument(document, CODEC);
  }

  private List<Integer> array() {
    return IntStream.range(0, 5).mapToObj(i -> random.nextInt(100)).toList();
  }

  private Object value(int field) {
    return switch (field % 3) {
      case 0 -> random.nextInt(10_000_000);
      case 1 -> new BsonDateTime(FIRST_DAY + random.nextInt(Integer.MAX_VALUE));
      default -> text(4);
    };
  }

  private String text(int words) {
    return IntStream.range(0, words)
        .mapToObj(i -> WORDS[random.nextInt(WORDS.length)] + " ")
        .collect(Collectors.joining());
  }
}
