package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoClientSettings;
import dev.onehop.core.table.ShardKeyPattern;
import java.time.Instant;
import org.bson.BsonDocument;
import org.bson.BsonReader;
import org.bson.BsonWriter;
import org.bson.Document;
import org.bson.codecs.Codec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.DocumentCodec;
import org.bson.codecs.EncoderContext;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ShardKeyFieldsTest {
  private static final CodecRegistry CODECS = MongoClientSettings.getDefaultCodecRegistry();

  @Test
  void plainFieldsAreWhatEncodingTheWholeDocumentGives() {
    Document document =
        new Document("_id", new ObjectId())
            .append("s", "text")
            .append("i", 1)
            .append("l", 2L)
            .append("other", new Document("x", Instant.EPOCH));

    for (String key : new String[] {"{_id: 1}", "{s: 1, i: 1}", "{l: -1}", "{s: 'hashed'}"}) {
      ShardKeyPattern pattern = pattern(key);
      BsonDocument found = of(document, CODECS, key);

      assertThat(found).isNotNull();
      assertThat(pattern.keyOf(found))
          .isEqualTo(pattern.keyOf(document.toBsonDocument(Document.class, CODECS)));
    }
  }

  @Test
  void whatIsNotPlainIsLeftToTheCodecs() {
    Document document = new Document("d", Instant.EPOCH).append("a", new Document("b", 1));

    assertThat(of(document, CODECS, "{d: 1}")).isNull();
    assertThat(of(document, CODECS, "{missing: 1}")).isNull();
    assertThat(of(document, CODECS, "{'a.b': 1}")).isNull();
  }

  @Test
  void anApplicationsOwnCodecIsAsked() {
    CodecRegistry upper =
        CodecRegistries.fromRegistries(CodecRegistries.fromCodecs(new UpperCase()), CODECS);

    assertThat(of(new Document("s", "x"), upper, "{s: 1}")).isNull();
  }

  private static @Nullable BsonDocument of(Document document, CodecRegistry codecs, String key) {
    Codec<Document> codec = codecs.get(Document.class);
    assertThat(codec).isExactlyInstanceOf(DocumentCodec.class);
    return new ShardKeyFields(codecs).of(document, codec, pattern(key));
  }

  private static ShardKeyPattern pattern(String key) {
    return ShardKeyPattern.of(BsonDocument.parse(key));
  }

  private static final class UpperCase implements Codec<String> {
    @Override
    public void encode(BsonWriter writer, String value, EncoderContext context) {
      writer.writeString(value.toUpperCase(java.util.Locale.ROOT));
    }

    @Override
    public String decode(BsonReader reader, DecoderContext context) {
      return reader.readString();
    }

    @Override
    public Class<String> getEncoderClass() {
      return String.class;
    }
  }
}
