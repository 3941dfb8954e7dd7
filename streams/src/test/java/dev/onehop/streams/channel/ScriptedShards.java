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
 * Streams of two shards, each merged in another way: a key is on one shard, so all are in order. An
 * event that concerns more than a document comes after all that are older.
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
   * @param pause after each twenty events
   */
  ScriptedShards(long seed, Duration pause) {
    this.random = new Random(seed);
    this.pause = pause;
  }

  /** The place before everything. */
  static Checkpoint start() {
    return Checkpoint.at(token(0));
  }

  /** The place after everything. */
  synchronized Checkpoint now() {
    return Checkpoint.at(token(time));
  }

  /** A document's next event. */
  void add(int key, int value) {
    add(key, value, 0);
  }

  /** The same for one that is so large. */
  synchronized void add(int key, int value, int bytes) {
    add(
        key % NAMES.size(),
        new BsonDocument("operationType", new BsonString("insert"))
            .append("documentKey", new BsonDocument("_id", new BsonInt32(key)))
            .append("value", new BsonInt32(value))
            .append("filler", new BsonString("x".repeat(bytes))));
  }

  /** An event that concerns more than a document. */
  synchronized void drop(int shard, int value) {
    add(
        shard,
        new BsonDocument("operationType", new BsonString("drop"))
            .append("value", new BsonInt32(value)));
  }

  /** Nothing more comes; streams complete after an event that says so. */
  synchronized void end() {
    drop(0, 0);
    ended = true;
  }

  /** The same where the pipeline leaves out the event that says so. */
  synchronized void endUnsaid() {
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

  /** One stream. */
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
          // What is wide waits for all that is older, and all that is younger waits for it.
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
