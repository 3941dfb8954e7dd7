package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A cluster whose shards have the events that a test adds. Thread-safe. */
final class ScriptedCluster implements Cluster {
  final Map<String, Shard> shards = new TreeMap<>();
  final Map<String, BsonTimestamp> removed = new TreeMap<>();
  final AtomicInteger placements = new AtomicInteger();
  private final boolean placed;
  private Checkpoint start = Checkpoint.before(Events.at(1));
  private boolean resumed;
  private int version;
  private long latest;
  private @Nullable ReadFailure placementFailure;
  private boolean closed;

  ScriptedCluster(boolean placed, String... names) {
    this.placed = placed;
    for (String name : names) {
      shards.put(name, new Shard(name));
    }
  }

  synchronized Shard shard(String name) {
    return shards.get(name);
  }

  synchronized void addShard(String name) {
    shards.put(name, new Shard(name));
  }

  synchronized void removeShard(String name) {
    clock();
    shards.remove(name);
  }

  synchronized void startAt(Checkpoint place) {
    start = place;
    resumed = true;
  }

  /** Changes the placement, as the move of a range does. */
  synchronized void move() {
    version++;
  }

  synchronized void failPlacements(@Nullable ReadFailure failure) {
    placementFailure = failure;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  private synchronized long clock() {
    latest =
        Math.max(latest, shards.values().stream().mapToLong(shard -> shard.clock).max().orElse(0));
    return latest;
  }

  private synchronized Placement read() {
    placements.incrementAndGet();
    if (placementFailure != null) {
      throw placementFailure;
    }
    return new Placement(
        Events.at(clock()),
        Events.at(clock()),
        Set.copyOf(shards.keySet()),
        List.of(version, Set.copyOf(shards.keySet())));
  }

  @Override
  public synchronized Mono<Opening> open() {
    return Mono.fromCallable(
        () ->
            new Opening(
                Set.copyOf(shards.keySet()),
                placed ? read() : null,
                start,
                resumed,
                Map.copyOf(removed)));
  }

  @Override
  public Mono<Placement> placement(boolean awaited) {
    return Mono.fromCallable(this::read);
  }

  @Override
  public BsonTimestamp now() {
    return Events.at(clock());
  }

  @Override
  public ShardStream stream(String shard) {
    return shard(shard);
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  /** A shard with its oplog and its clock. */
  final class Shard implements ShardStream {
    private final String name;
    private final List<RawBsonDocument> oplog = new ArrayList<>();
    private final Queue<ReadFailure> failures = new ArrayDeque<>();
    private final List<Place> opened = new ArrayList<>();
    private @Nullable String tooLarge;
    private long clock = 1;
    private int number;
    private int position = -1;
    private int reads;
    private int advances;
    private int most;
    private long reported;
    private boolean silent;
    private boolean held;
    private boolean idleAdvances = true;
    private boolean splits;
    private boolean hidesInvalidate;
    private @Nullable BsonTimestamp oplogBegin = Events.at(1);
    private ReadFailure.@Nullable Kind failureAfterOpening;

    Shard(String name) {
      this.name = name;
    }

    void insert(long time, int key) {
      add("insert", time, key);
    }

    /** Adds an event at this time, or later if the shard has already reported a later token. */
    String add(String type, long earliest, int key) {
      synchronized (ScriptedCluster.this) {
        long time = Math.max(earliest, reported + 1);
        String token = Events.token(time, name, ++number);
        oplog.add(Events.event(token, type, key, number));
        clock = Math.max(clock, time);
        return token;
      }
    }

    /** Adds a transaction: several inserts with one cluster time. */
    void transaction(long earliest, long txnNumber, int... keys) {
      synchronized (ScriptedCluster.this) {
        long time = Math.max(earliest, reported + 1);
        for (int key : keys) {
          String token = Events.token(time, name, ++number);
          oplog.add(Events.inTransaction(Events.event(token, "insert", key, number), txnNumber));
        }
        clock = Math.max(clock, time);
      }
    }

    /** Adds an insert with this {@code wallTime}. */
    void insertAt(long wallMillis) {
      synchronized (ScriptedCluster.this) {
        String token = add("insert", 0, 0);
        BsonDocument event = Events.event(token, "insert", 0, number);
        oplog.set(
            oplog.size() - 1,
            Events.raw(Events.copy(event).append("wallTime", new BsonDateTime(wallMillis))));
      }
    }

    /** Sets whether the pipeline removes the invalidate event. */
    void setHidesInvalidate(boolean value) {
      synchronized (ScriptedCluster.this) {
        hidesInvalidate = value;
      }
    }

    void setSplits(boolean value) {
      synchronized (ScriptedCluster.this) {
        splits = value;
      }
    }

    void setOplogBegin(@Nullable BsonTimestamp time) {
      synchronized (ScriptedCluster.this) {
        oplogBegin = time;
      }
    }

    /** Whether the shard has reported a token after its last event. */
    boolean hasReportedEnd() {
      synchronized (ScriptedCluster.this) {
        return reported == clock && position == oplog.size();
      }
    }

    /** Makes the first request after the next opening fail. */
    void failAfterOpening(ReadFailure.Kind kind) {
      synchronized (ScriptedCluster.this) {
        failureAfterOpening = kind;
      }
    }

    void tooLarge(String token) {
      synchronized (ScriptedCluster.this) {
        tooLarge = token;
      }
    }

    void fail(ReadFailure.Kind kind) {
      synchronized (ScriptedCluster.this) {
        failures.add(new ReadFailure(kind, new IllegalStateException("scripted " + kind)));
      }
    }

    /** Sets whether the shard stops replying. */
    void setSilent(boolean value) {
      synchronized (ScriptedCluster.this) {
        silent = value;
        held = false;
      }
    }

    /** Whether a request has arrived since the shard stopped replying. */
    boolean isHeld() {
      synchronized (ScriptedCluster.this) {
        return held;
      }
    }

    private boolean isSilent() {
      synchronized (ScriptedCluster.this) {
        return silent;
      }
    }

    /** Sets whether the shard's clock follows the other clocks while the shard is idle. */
    void setIdleAdvances(boolean value) {
      synchronized (ScriptedCluster.this) {
        idleAdvances = value;
      }
    }

    List<Place> opened() {
      synchronized (ScriptedCluster.this) {
        return List.copyOf(opened);
      }
    }

    int reads() {
      synchronized (ScriptedCluster.this) {
        return reads;
      }
    }

    int advances() {
      synchronized (ScriptedCluster.this) {
        return advances;
      }
    }

    boolean isOpen() {
      synchronized (ScriptedCluster.this) {
        return position >= 0;
      }
    }

    @Override
    public Mono<Batch> open(Place place, int batchSize) {
      return Mono.fromCallable(
          () -> {
            synchronized (ScriptedCluster.this) {
              opened.add(place);
              most = batchSize;
              throwNext();
              String from =
                  place.own() == null
                      ? Tokens.highWater(Tokens.clusterTime(place.after()))
                      : place.after();
              position = 0;
              while (position < oplog.size()
                  && ShardReader.token(oplog.get(position)).compareTo(from) <= 0) {
                position++;
              }
              Batch first = batch();
              if (failureAfterOpening != null) {
                fail(failureAfterOpening);
                failureAfterOpening = null;
              }
              return first;
            }
          });
    }

    private void throwNext() {
      ReadFailure failure = failures.poll();
      if (failure != null) {
        position = -1;
        throw failure;
      }
    }

    private Batch batch() {
      int until = Math.min(oplog.size(), position + (most == 0 ? 10 : most));
      List<RawBsonDocument> events = List.copyOf(oplog.subList(position, until));
      for (RawBsonDocument event : events) {
        if (ShardReader.token(event).equals(tooLarge)) {
          position = -1;
          throw new ReadFailure(ReadFailure.Kind.TOO_LARGE, new IllegalStateException("too large"));
        }
      }
      position = until;
      boolean ended =
          !events.isEmpty()
              && events
                  .get(events.size() - 1)
                  .getString("operationType")
                  .getValue()
                  .equals("invalidate");
      String token = null;
      if (until == oplog.size()) {
        reported = clock;
        token = Events.highWater(reported + 1);
      }
      if (ended && hidesInvalidate) {
        int last = events.size() - 1;
        return new Batch(events.subList(0, last), events.get(last).getDocument("_id"), true);
      }
      return new Batch(
          events, token == null ? null : new BsonDocument("_data", new BsonString(token)), ended);
    }

    @Override
    public Mono<Batch> next(Duration wait) {
      return Mono.defer(
          () -> {
            synchronized (ScriptedCluster.this) {
              reads++;
              throwNext();
              if (silent) {
                held = true;
                return Flux.interval(Duration.ofMillis(5))
                    .filter(tick -> !isSilent())
                    .next()
                    .flatMap(tick -> next(wait));
              }
              if (position < 0) {
                return Mono.error(
                    new ReadFailure(
                        ReadFailure.Kind.PASSING, new IllegalStateException("no cursor")));
              }
              if (position < oplog.size()) {
                return Mono.fromCallable(
                    () -> {
                      synchronized (ScriptedCluster.this) {
                        return batch();
                      }
                    });
              }
            }
            // Waits for events as a server does.
            return Mono.fromCallable(
                    () -> {
                      synchronized (ScriptedCluster.this) {
                        return batch();
                      }
                    })
                .delaySubscription(Duration.ofMillis(Math.min(2, wait.toMillis())));
          });
    }

    @Override
    public Mono<Large> large(Place place) {
      return Mono.fromCallable(
          () -> {
            synchronized (ScriptedCluster.this) {
              for (RawBsonDocument event : oplog) {
                if (ShardReader.token(event).compareTo(place.after()) > 0) {
                  return splits ? new Large(event, true) : new Large(narrow(event), false);
                }
              }
              throw new ReadFailure(
                  ReadFailure.Kind.PASSING, new IllegalStateException("no event"));
            }
          });
    }

    private static BsonDocument narrow(BsonDocument event) {
      return new BsonDocument("_id", event.get("_id"))
          .append("documentKey", event.get("documentKey"))
          .append("operationType", new BsonString("insert"));
    }

    @Override
    public Mono<BsonTimestamp> oplogBegin() {
      return Mono.fromCallable(
          () -> {
            synchronized (ScriptedCluster.this) {
              return oplogBegin;
            }
          });
    }

    @Override
    public Mono<BsonTimestamp> oldest() {
      return Mono.fromCallable(() -> Events.at(50));
    }

    @Override
    public Mono<Void> advance() {
      return Mono.fromRunnable(
          () -> {
            synchronized (ScriptedCluster.this) {
              advances++;
              if (idleAdvances) {
                clock = Math.max(clock, clock()) + 1;
              }
            }
          });
    }

    @Override
    public Mono<Void> close() {
      return Mono.fromRunnable(
          () -> {
            synchronized (ScriptedCluster.this) {
              position = -1;
            }
          });
    }
  }
}
