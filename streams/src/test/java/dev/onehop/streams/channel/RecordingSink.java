package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A store that records the written events and checks terms, as a store with transactions does. */
final class RecordingSink {
  private final boolean fenced;
  private final Map<Integer, Long> terms = new HashMap<>();
  private final Map<Integer, Checkpoint> places = new HashMap<>();
  private final Map<Integer, List<Integer>> values = new TreeMap<>();
  private final List<StreamEvent.Change> log = new ArrayList<>();
  private final List<StreamEvent.Change> wide = new ArrayList<>();
  private final AtomicInteger refused = new AtomicInteger();

  /** Simulates a member's process, which can be stopped. */
  static final class Freezer {
    private boolean frozen;

    synchronized void set(boolean value) {
      frozen = value;
      notifyAll();
    }

    synchronized void pass() {
      try {
        while (frozen) {
          wait();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /**
   * @param fenced whether writes with a lower term fail
   */
  RecordingSink(boolean fenced) {
    this.fenced = fenced;
  }

  /** The sink of a member. */
  ChannelSink of(Freezer process) {
    return new ChannelSink() {
      @Override
      public Publisher<Checkpoint> begin(int channel, long term) {
        process.pass();
        return Mono.justOrEmpty(raise(channel, term));
      }

      @Override
      public Publisher<Void> write(ChannelBatch batch) {
        return Mono.fromRunnable(
            () -> {
              process.pass();
              apply(batch);
            });
      }
    };
  }

  private synchronized Checkpoint raise(int channel, long term) {
    if (fenced && term < terms.getOrDefault(channel, 0L)) {
      throw new FencedException(channel, term);
    }
    terms.put(channel, term);
    return fenced ? places.get(channel) : null;
  }

  private synchronized void apply(ChannelBatch batch) {
    if (fenced && batch.term() != terms.get(batch.channel())) {
      refused.incrementAndGet();
      throw new FencedException(batch.channel(), batch.term());
    }
    for (StreamEvent.Change change : batch.events()) {
      BsonDocument event = change.document();
      log.add(change);
      if (event.containsKey("documentKey")) {
        values
            .computeIfAbsent(
                event.getDocument("documentKey").getInt32("_id").getValue(),
                key -> new ArrayList<>())
            .add(event.getInt32("value").getValue());
      } else {
        wide.add(change);
      }
    }
    places.put(batch.channel(), Checkpoint.parse(batch.place().toDocument()));
  }

  synchronized int size() {
    return log.size();
  }

  int refused() {
    return refused.get();
  }

  /**
   * Checks that every event was written once, and that the events of each key are in order. A wide
   * event must be written after all older events.
   */
  synchronized void check(Map<Integer, Integer> written, int wideEvents) {
    written.forEach(
        (key, last) ->
            assertThat(values.getOrDefault(key, List.of()))
                .as("key %s", key)
                .isEqualTo(IntStream.rangeClosed(1, last).boxed().toList()));
    assertThat(wide).hasSize(wideEvents).extracting(StreamEvent.Change::token).isSorted();
    for (StreamEvent.Change each : wide) {
      int at = log.indexOf(each);
      // With order per key, a younger event of another shard may come before the wide event.
      assertThat(log.subList(0, at))
          .filteredOn(change -> change.shard().equals(each.shard()))
          .allMatch(change -> change.token().compareTo(each.token()) < 0);
      assertThat(log.subList(at + 1, log.size()))
          .allMatch(change -> change.token().compareTo(each.token()) > 0);
    }
  }
}
