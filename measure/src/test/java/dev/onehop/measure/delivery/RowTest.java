package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;

class RowTest {

  @Test
  void has220BytesAndFourKeyFieldsOfWhichTheFirstIsAHash() {
    RawBsonDocument document = new Row(7, 123_456_789, 2, 42).document(HashRanges.all());

    assertThat(RowEvent.size(document)).isEqualTo(Row.BYTES).isEqualTo(220);
    assertThat(document.keySet()).containsExactly("_id", "at", "value");
    assertThat(document.getDocument("_id").keySet()).containsExactly("h", "user", "run", "n");
    assertThat(document.getDocument("_id").get("h")).isInstanceOf(BsonInt32.class);
  }

  @Test
  void isReadFromItsEvent() {
    Row row = new Row(7, 5_000_000_000L, 2, 1_700_000_000_000_123L);

    RowEvent read = RowEvent.of(SampleEvents.of(row, 9, 1_700_000_000_004L));

    assertThat(read)
        .isEqualTo(new RowEvent(7, 5_000_000_000L, 2, 1_700_000_000_000_123L, 1_700_000_000_004L));
    assertThat(RowEvent.token(SampleEvents.of(row, 9, 0))).isEqualTo("8200000000000000092B");
  }

  @Test
  void isNotReadFromOtherEvents() {
    for (String event :
        new String[] {
          "{operationType: 'drop'}",
          "{operationType: 'delete', documentKey: {_id: 1}}",
          "{operationType: 'insert', fullDocument: {_id: 1, at: 2, value: 'x'}}",
          "{operationType: 'insert', fullDocument: {_id: {run: 1}, at: 2, value: 'x'}}"
        }) {
      assertThat(RowEvent.of(SampleEvents.raw(BsonDocument.parse(event)))).as(event).isNull();
    }
  }

  @Test
  void aServerThatTellsNoClockHasNoCommitTime() {
    BsonDocument event = SampleEvents.of(new Row(1, 2, 1, 3), 1, 4).decode(new BsonDocumentCodec());
    event.remove("wallTime");

    assertThat(RowEvent.of(SampleEvents.raw(event)).committedMillis()).isNull();
  }
}
