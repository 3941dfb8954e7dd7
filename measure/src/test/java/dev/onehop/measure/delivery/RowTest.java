package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowTest {

  private static final Row ROW = new Row(1 << 28, 7, 123_456_789_012L, 3, 40, 50);
  private static final HashRanges HASH = new HashRanges(List.of(new HashRanges.Range(-5, -4)));

  @ParameterizedTest
  @ValueSource(ints = {Row.LEAST_BYTES, 200, ConsumeBench.ROW_BYTES, 70_000})
  void writesAndReadsDocumentOfGivenSize(int bytes) {
    RawBsonDocument document = ROW.document(HASH, bytes);

    assertThat(document.getByteBuffer().remaining()).isEqualTo(bytes);
    assertThat(Row.of(document)).isEqualTo(ROW);
  }

  @Test
  void keyHasFourFieldsAndHashFirst() {
    RawBsonDocument document = ROW.document(HASH, ConsumeBench.ROW_BYTES);

    assertThat(ConsumeBench.ROW_BYTES).isEqualTo(220);
    assertThat(document.getDocument("_id").keySet()).containsExactly("h", "run", "g", "n");
    assertThat(document.getDocument("_id").get("h")).isEqualTo(new BsonInt32(-5));
    assertThat(Row.filter(document)).isEqualTo(new BsonDocument("_id", document.get("_id")));
  }

  @Test
  void readsRowFromItsEvent() {
    RawBsonDocument event = SampleEvents.of(ROW, 9, 1_700_000_000_004L);

    assertThat(Row.ofEvent(event)).isEqualTo(ROW);
    assertThat(Row.committedMillis(event)).isEqualTo(1_700_000_000_004L);
    assertThat(Row.token(event)).isEqualTo("8200000000000000092B");
  }

  @Test
  void otherEventsHaveNoRow() {
    for (String event :
        new String[] {
          "{operationType: 'drop'}",
          "{operationType: 'delete', documentKey: {_id: 1}}",
          "{operationType: 'insert', fullDocument: {_id: 1, at: 2, v: 3}}",
          "{operationType: 'insert', fullDocument: {_id: {run: 1}, at: 2, v: 3}}"
        }) {
      assertThat(Row.ofEvent(SampleEvents.raw(BsonDocument.parse(event)))).as(event).isNull();
    }
  }

  @Test
  void eventWithoutWallTimeHasNoCommitTime() {
    BsonDocument event = SampleEvents.of(ROW, 1, 4).decode(new BsonDocumentCodec());
    event.remove("wallTime");

    assertThat(Row.committedMillis(SampleEvents.raw(event))).isNull();
  }

  @Test
  void signalsHaveNegativeNumbers() {
    assertThat(Row.signal(0)).isEqualTo(-1);
    assertThat(new Row(1, 1, Row.signal(4), 1, 0, 0).isSignal()).isTrue();
    assertThat(ROW.isSignal()).isFalse();
  }
}
