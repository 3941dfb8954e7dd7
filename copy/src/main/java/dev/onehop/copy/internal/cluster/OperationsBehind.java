package dev.onehop.copy.internal.cluster;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the inserts, updates and deletes in all databases of the source after a time. Once a
 * second each shard's primary counts the new entries of its oplog. The counters of {@code
 * serverStatus} are not used, because they count statements and not documents, have no times, and
 * start at 0 after a restart or an election. Writes of migrations do not count.
 *
 * <p>Thread-safe.
 */
public final class OperationsBehind implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OperationsBehind.class);
  private static final long EVERY_MILLIS = 1_000;
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int SLICE_SECONDS = 30;

  // Selects inserts, updates and deletes, without the databases that are never copied. Transactions
  // are included: in the oplog a transaction is a command (op 'c') with applyOps.
  private static final String OPERATIONS =
      "{fromMigrate: {$exists: false}, $or: [{op: 'c', 'o.applyOps': {$exists: true}}, {op: {$in:"
          + " ['i', 'u', 'd']}, $nor: [{ns: {$gte: 'config.', $lt: 'config/'}}, {ns: {$gte:"
          + " 'admin.', $lt: 'admin/'}}, {ns: {$gte: '%1$s.', $lt: '%1$s/'}}]}]}";
  private static final String COUNT =
      "{$group: {_id: null, first: {$min: '$ts'}, last: {$max: '$ts'}, count: {$sum: {$cond:"
          + " [{$eq: ['$op', 'c']}, {$size: '$o.applyOps'}, 1]}}}}";

  private final ClusterEnd source;
  private final BsonTimestamp from;
  private final Consumer<String> notes;
  private final Thread thread = new Thread(this::follow, "onehop-copy-operations");
  private final Map<String, Shard> shards = new HashMap<>();
  private volatile boolean unknown;
  private boolean closed;

  /** The operations that were counted on a shard. */
  private static final class Shard {
    private final OperationTally tally = new OperationTally();
    private BsonTimestamp counted;
    private @Nullable Long upToDateNanos;

    Shard(BsonTimestamp counted) {
      this.counted = counted;
    }
  }

  /**
   * Creates an object and starts to count in a thread.
   *
   * @param from a cluster time of the source; earlier operations do not count
   * @param notes receives a note if the count is impossible
   */
  public OperationsBehind(ClusterEnd source, BsonTimestamp from, Consumer<String> notes) {
    this.source = source;
    this.from = from;
    this.notes = notes;
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * The number of operations at or after a time. Operations after {@link #close} do not count.
   *
   * @param time a cluster time of the source, at or after the times of all earlier calls
   * @return the number; null if it is unknown or not counted yet
   */
  public synchronized @Nullable Long since(BsonTimestamp time) {
    if (unknown || shards.isEmpty()) {
      return null;
    }
    long sum = 0;
    for (Shard shard : shards.values()) {
      if (shard.upToDateNanos == null
          || (!closed && System.nanoTime() - shard.upToDateNanos > FRESH_NANOS)) {
        return null;
      }
      shard.tally.forget(time);
      sum += shard.tally.since(time);
    }
    return sum;
  }

  private void follow() {
    try {
      while (!unknown) {
        try {
          look();
        } catch (RuntimeException failure) {
          log.debug("the source's shards can't be read now", failure);
        }
        Thread.sleep(EVERY_MILLIS);
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private void look() throws InterruptedException {
    Map<String, ReplicaSet> now = source.shards();
    synchronized (this) {
      shards.keySet().retainAll(now.keySet());
      // Operations after a time are counted. The time is one less than "from", because operations
      // at "from" count, too.
      now.keySet()
          .forEach(
              id ->
                  shards.computeIfAbsent(
                      id, unseen -> new Shard(new BsonTimestamp(from.getValue() - 1))));
    }
    for (Map.Entry<String, ReplicaSet> each : now.entrySet()) {
      try {
        count(each.getKey(), each.getValue());
      } catch (RuntimeException failure) {
        if (failure instanceof CommandFailure refused
            && refused.code() == ErrorCodes.UNAUTHORIZED) {
          giveUp(
              "the user lacks the privilege find on local.oplog.rs at "
                  + OplogWindow.place(each.getKey()));
          return;
        }
        log.debug("the oplog of {} can't be read now", each.getKey(), failure);
      }
    }
  }

  private void giveUp(String why) {
    unknown = true;
    notes.accept("it is unknown how many operations the destination is behind: " + why);
  }

  /** Counts the new entries of a shard's oplog that are committed by the majority. */
  private void count(String id, ReplicaSet servers) throws InterruptedException {
    Shard shard;
    BsonTimestamp counted;
    synchronized (this) {
      shard = Objects.requireNonNull(shards.get(id));
      counted = shard.counted;
    }
    Oplog oplog = new Oplog(source, servers);
    RawBsonDocument newest = oplog.newest();
    if (newest == null) {
      return;
    }
    BsonTimestamp end = newest.getTimestamp("ts");
    while (counted.compareTo(end) < 0) {
      BsonTimestamp next = new BsonTimestamp(counted.getTime() + SLICE_SECONDS, 0);
      BsonTimestamp until = next.compareTo(end) < 0 ? next : end;
      List<RawBsonDocument> some =
          oplog.read(
              Oplog.aggregate(
                      between(counted, until),
                      new BsonDocument(
                          "$match",
                          BsonDocument.parse(OPERATIONS.formatted(Mapping.STATE_DATABASE))),
                      BsonDocument.parse(COUNT))
                  .append("readConcern", BsonDocument.parse("{level: 'majority'}")));
      if (!remembers(oplog, counted)) {
        giveUp("the oplog of " + OplogWindow.place(id) + " no longer has all operations to count");
        return;
      }
      counted = until;
      synchronized (this) {
        for (RawBsonDocument found : some) {
          shard.tally.add(
              found.getTimestamp("first"),
              found.getTimestamp("last"),
              found.getNumber("count").longValue());
        }
        shard.counted = until;
      }
    }
    synchronized (this) {
      shard.upToDateNanos = System.nanoTime();
    }
  }

  private static BsonDocument between(BsonTimestamp after, BsonTimestamp until) {
    return new BsonDocument(
        "$match", new BsonDocument("ts", new BsonDocument("$gt", after).append("$lte", until)));
  }

  /** Whether the oplog still has all entries after a time. */
  private static boolean remembers(Oplog oplog, BsonTimestamp time) throws InterruptedException {
    RawBsonDocument oldest = oplog.oldest();
    return oldest != null
        && (oldest.getTimestamp("ts").compareTo(time) <= 0
            // This entry is the first that the oplog has ever had. So no entry is lost, although
            // the shard is newer than the time.
            || new BsonString("initiating set")
                .equals(oldest.getDocument("o", new BsonDocument()).get("msg")));
  }

  /** Stops counting. */
  @Override
  public synchronized void close() {
    closed = true;
    thread.interrupt();
  }
}
