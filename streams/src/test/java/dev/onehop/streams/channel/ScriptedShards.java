package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * Merged streams of two shards. Each subscription merges the events of the shards in another random
 * order. Each key is on one shard, so that its events are in order. An event that concerns more
 * than one document comes after all older events.
 */
final class ScriptedShards {
  private static final List<String> NAMES = List.of("a", "b");
  private static final Duration IDLE = Duration.ofMillis(5);

  private final List<List<RawBsonDocument>> shards = List.of(new ArrayList<>(), new ArrayList<>());
  private final Random random;
  private final Duration pause;
  private final AtomicInteger given = new AtomicInteger();
  private int time;
  private boolean ended;

  /**
   * @param pause the pause after each twenty events
   */
  ScriptedShards(long seed, Duration pause) {
    this.random = new Random(seed);
    this.pause = pause;
  }

  /** The position before all events. */
  static Checkpoint start() {
    return Checkpoint.at(token(0));
  }

  /** The position after all current events. */
  synchronized Checkpoint now() {
    return Checkpoint.at(token(time));
  }

  /** Adds the next event of a document. */
  void add(int key, int value) {
    add(key, value, 0);
  }

  /** Adds the next event of a document, with at least this number of bytes. */
  synchronized void add(int key, int value, int bytes) {
    add(
        key % NAMES.size(),
        new BsonDocument("operationType", new BsonString("insert"))
            .append("documentKey", new BsonDocument("_id", new BsonInt32(key)))
            .append("value", new BsonInt32(value))
            .append("filler", new BsonString("x".repeat(bytes))));
  }

  /** Adds an event that concerns more than one document. */
  synchronized void drop(int shard, int value) {
    add(
        shard,
        new BsonDocument("operationType", new BsonString("drop"))
            .append("value", new BsonInt32(value)));
  }

  /** Adds the last event. Streams complete after it. */
  synchronized void end() {
    drop(0, 0);
    ended = true;
  }

  /** Ends the streams without a last event, as if the pipeline had removed it. */
  synchronized void endWithoutLastEvent() {
    ended = true;
  }

  private void add(int shard, BsonDocument event) {
    event.append("_id", new BsonDocument("_data", new BsonString(token(++time))));
    shards.get(shard).add(new RawBsonDocument(event, new BsonDocumentCodec()));
  }

  private static String token(int time) {
    return "82%016X2B022C0100296E5A04".formatted(time);
  }

  private static String token(RawBsonDocument event) {
    return event.getDocument("_id").getString("_data").getValue();
  }

  synchronized int size() {
    return shards.stream().mapToInt(List::size).sum();
  }

  Publisher<StreamEvent> after(Checkpoint place) {
    return Flux.<StreamEvent, Cursor>generate(
            () -> new Cursor(place),
            (cursor, out) -> {
              StreamEvent next = cursor.next();
              if (next != null) {
                out.next(next);
              } else if (cursor.isEnd()) {
                out.complete();
              } else {
                out.next(new StreamEvent.Progress(cursor.place()));
              }
              return cursor;
            })
        .subscribeOn(Schedulers.boundedElastic())
        .doOnNext(this::rest);
  }

  private void rest(StreamEvent event) {
    boolean idle = event instanceof StreamEvent.Progress;
    try {
      if (idle) {
        RealTime.pass(IDLE);
      } else if (given.incrementAndGet() % 20 == 0) {
        RealTime.pass(pause);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One subscription to the merged stream. */
  private final class Cursor {
    private final int[] next = new int[NAMES.size()];
    private final String[] tokens = new String[NAMES.size()];
    private final String cap;

    Cursor(Checkpoint place) {
      this.cap = token(0);
      synchronized (ScriptedShards.this) {
        for (int i = 0; i < next.length; i++) {
          List<RawBsonDocument> events = shards.get(i);
          tokens[i] = place.token(NAMES.get(i));
          while (next[i] < events.size() && token(events.get(next[i])).compareTo(tokens[i]) <= 0) {
            next[i]++;
          }
        }
      }
    }

    StreamEvent next() {
      synchronized (ScriptedShards.this) {
        List<Integer> ready =
            IntStream.range(0, next.length)
                .filter(i -> next[i] < shards.get(i).size())
                .boxed()
                .toList();
        if (ready.isEmpty()) {
          return null;
        }
        int shard = ready.get(random.nextInt(ready.size()));
        for (int other : ready) {
          // A wide event waits for all older events, and all younger events wait for it.
          if (other != shard
              && (isWide(other) || isWide(shard))
              && token(head(other)).compareTo(token(head(shard))) < 0) {
            shard = other;
          }
        }
        RawBsonDocument event = head(shard);
        next[shard]++;
        tokens[shard] = token(event);
        return new StreamEvent.Change(NAMES.get(shard), token(event), event, 0, place());
      }
    }

    private RawBsonDocument head(int shard) {
      return shards.get(shard).get(next[shard]);
    }

    private boolean isWide(int shard) {
      return !head(shard).containsKey("documentKey");
    }

    boolean isEnd() {
      synchronized (ScriptedShards.this) {
        return ended && next() == null;
      }
    }

    Checkpoint place() {
      return Checkpoint.of(NAMES, tokens.clone(), cap);
    }
  }
}
