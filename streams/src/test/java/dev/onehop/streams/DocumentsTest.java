package dev.onehop.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.EventTooLargeException;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

class DocumentsTest {
  private final List<StreamEvent> given = new ArrayList<>();

  @Test
  void omitsProgressEvents() {
    read(change(1), new StreamEvent.Progress(place(2)), change(3));
    assertThat(given).extracting(StreamEvent::checkpoint).containsExactly(place(1), place(3));
  }

  @Test
  void failsOnTooLargeEventAndReportsIt() {
    StreamEvent.TooLarge large =
        new StreamEvent.TooLarge(
            "one", BsonDocument.parse("{documentKey: {_id: 'thatOne'}}"), place(2));
    assertThatThrownBy(() -> read(change(1), large, change(3)))
        .isInstanceOfSatisfying(
            EventTooLargeException.class,
            failure -> {
              assertThat(failure.shard()).isEqualTo("one");
              assertThat(failure.checkpoint()).isEqualTo(place(2));
            })
        .hasMessageContaining("thatOne")
        .hasMessageContaining("events()");
    assertThat(given).hasSize(1);
  }

  @Test
  void failsOnLostHistory() {
    StreamEvent.HistoryLost lost =
        new StreamEvent.HistoryLost(
            "one", new BsonTimestamp(5, 0), new BsonTimestamp(9, 0), place(9));
    assertThatThrownBy(() -> read(change(1), lost, change(10)))
        .isInstanceOf(HistoryLostException.class)
        .hasMessageContaining("one");
    assertThat(given).hasSize(1);
  }

  private void read(StreamEvent... events) {
    Documents.of(Flux.just(events)).doOnNext(given::add).blockLast();
  }

  private static StreamEvent change(int time) {
    return new StreamEvent.Change(
        "one", "", RawBsonDocument.parse("{operationType: 'insert'}"), 0, place(time));
  }

  private static Checkpoint place(int time) {
    return Checkpoint.before(new BsonTimestamp(time, 0));
  }
}
