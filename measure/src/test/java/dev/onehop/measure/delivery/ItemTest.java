package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ItemTest {

  private static final Item ITEM = new Item(1 << 28, 7, 123_456_789_012L, 3, 40, 50);

  private static RawBsonDocument event(BsonDocument document) {
    return new RawBsonDocument(
        new BsonDocument("operationType", new BsonInt32(1)).append("fullDocument", document),
        new BsonDocumentCodec());
  }

  @ParameterizedTest
  @ValueSource(ints = {Item.LEAST_BYTES, 200, 70_000})
  void aDocumentHasItsSizeAndComesBack(int bytes) {
    RawBsonDocument document = ITEM.document(-5, bytes);

    assertThat(document.getByteBuffer().remaining()).isEqualTo(bytes);
    assertThat(Item.of(document)).isEqualTo(ITEM);
    assertThat(Item.ofEvent(event(document))).isEqualTo(ITEM);
    assertThat(document.getDocument("_id")).isEqualTo(Item.id(-5, 1 << 28, 7, 123_456_789_012L));
  }

  @Test
  void otherDocumentsAreNone() {
    assertThat(Item.ofEvent(event(new BsonDocument("_id", new BsonInt32(1))))).isNull();
    assertThat(
            Item.ofEvent(
                new RawBsonDocument(
                    new BsonDocument("operationType", new BsonInt32(1)), new BsonDocumentCodec())))
        .isNull();
  }

  @Test
  void signalsAreBelowZero() {
    assertThat(Item.signal(0)).isEqualTo(-1);
    assertThat(new Item(1, 1, Item.signal(4), 1, 0, 0).isSignal()).isTrue();
    assertThat(ITEM.isSignal()).isFalse();
  }
}
