package dev.onehop.core.bson;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;

/**
 * Reads the two files of values from a real server: one is in the server's order, the other has the
 * server's hashes.
 */
final class Vectors {
  private Vectors() {}

  static List<BsonDocument> read(String resource) {
    try (InputStream in = Vectors.class.getResourceAsStream("/" + resource)) {
      assertThat(in).as(resource).isNotNull();
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(BsonDocument::parse)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static RawBsonDocument document(BsonDocument vector) {
    return new RawBsonDocument(HexFormat.of().parseHex(vector.getString("bsonHex").getValue()));
  }
}
