package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.streams.Snapshot;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;

/** Documents and times are small numbers. */
class SnapshotProgressTest {
  private static BsonTimestamp time(int time) {
    return new BsonTimestamp(time, 0);
  }

  private static StreamEvent.Change change(int id, int time) {
    Checkpoint place = Checkpoint.before(time(time));
    BsonDocument event =
        new BsonDocument("documentKey", new BsonDocument("_id", new BsonInt32(id)));
    return new StreamEvent.Change(
        "a", place.low(), new RawBsonDocument(event, new BsonDocumentCodec()), 0, place);
  }

  private static SnapshotReader.Read read(int id, int time) {
    return new SnapshotReader.Read(
        new SortedId(new BsonInt32(id)), time(time), 0, change(id, time));
  }

  private static SnapshotProgress progress() {
    SnapshotProgress first = SnapshotProgress.NONE.after(List.of(read(2, 10), read(4, 10)));
    SnapshotProgress resumed = SnapshotProgress.parse(first.toDocument());
    return SnapshotProgress.parse(
        resumed.after(List.of(read(6, 20), read(8, 20), read(9, 30))).toDocument());
  }

  @Test
  void documentIncludesEventsUpToItsReadTime() {
    SnapshotProgress progress = progress();
    int[][] last = {
      {1, 10}, {2, 10}, {4, 10}, {5, 10}, {6, 20}, {7, 20}, {8, 20}, {9, 30}, {99, 30}
    };
    for (int[] each : last) {
      for (int time = 5; time < 40; time += 5) {
        assertThat(progress.includes(change(each[0], time)))
            .as("document %s at %s", each[0], time)
            .isEqualTo(time <= each[1]);
      }
    }
  }

  @Test
  void streamStartsAfterEarliestReadTime() {
    assertThat(progress().place(time(99))).isEqualTo(Snapshot.next(time(10)));
    assertThat(SnapshotProgress.NONE.place(time(99))).isEqualTo(Snapshot.next(time(99)));
  }

  @Test
  void storesLastDocument() {
    assertThat(progress().upTo()).isEqualTo(new SortedId(new BsonInt32(9)));
    assertThat(SnapshotProgress.parse(null).upTo()).isNull();
    assertThat(SnapshotProgress.parse(SnapshotProgress.NONE.toDocument()))
        .isEqualTo(SnapshotProgress.NONE);
  }

  /**
   * The event {@code drop} concerns more than one document, so no document that was read contains
   * it.
   */
  @Test
  void noDocumentIncludesEventWithoutKey() {
    StreamEvent.Change drop =
        new StreamEvent.Change(
            "a",
            Checkpoint.before(time(5)).low(),
            RawBsonDocument.parse("{operationType: 'drop'}"),
            0,
            Checkpoint.before(time(5)));
    assertThat(progress().includes(drop)).isFalse();
  }
}
