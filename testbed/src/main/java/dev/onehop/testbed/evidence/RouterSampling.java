package dev.onehop.testbed.evidence;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Projections;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.message.ErrorCodes;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.conversions.Bson;

/**
 * Samples the origin of the shards' operations with the servers' profilers. The profilers run at
 * level 1 with a sample rate. At this level, version 6.0 applies the rate to the operations that
 * take longer than a threshold. The threshold is below zero, so the sample is taken from all
 * operations. {@link #close} restores the profilers and drops their entries. Thread-safe.
 */
public final class RouterSampling implements AutoCloseable {
  private static final String PROFILE = "system.profile";
  private static final long PROFILE_BYTES = 32L << 20;

  /**
   * Profile entries of an application's operations: reads and writes over a connection, without
   * range deleters and without the commands by which shards copy a range.
   */
  private static final Bson OPERATIONS =
      Filters.and(
          Filters.exists("client"),
          Filters.or(
              Filters.in("op", "query", "insert", "update", "remove"),
              Filters.and(
                  Filters.eq("op", "command"),
                  Filters.or(
                      Stream.of("aggregate", "count", "distinct", "findAndModify", "findandmodify")
                          .map(command -> Filters.exists("command." + command))
                          .toList()))));

  /**
   * Excludes operations that were refused because the router's routing table or database version
   * was stale (StaleConfig and StaleDbVersion). The router sends these operations again.
   */
  private static final Bson EXECUTED =
      Filters.nin("errCode", ErrorCodes.STALE_CONFIG, ErrorCodes.STALE_DB_VERSION);

  private final Topology topology;
  private final Cluster cluster;
  private final String database;
  private final String namespace;
  private final Map<String, BsonDocument> before = new LinkedHashMap<>();
  private final Instant started = Instant.now();
  private boolean closed;

  RouterSampling(Topology topology, Cluster cluster, String namespace, double fraction) {
    if (!(fraction > 0 && fraction <= 1)) {
      throw new IllegalArgumentException("the fraction to sample must be above 0 and at most 1");
    }
    this.topology = topology;
    this.cluster = cluster;
    this.namespace = namespace;
    this.database = namespace.substring(0, namespace.indexOf('.'));
    try {
      for (ReplicaSet shard : cluster.shards()) {
        // A server keeps only 1 MB of profile entries by default, about a thousand. So a larger
        // collection replaces the default collection.
        discardEntries(shard.primary());
        createProfile(shard.primary());
        BsonDocument was = profile(shard.primary(), 1, -1, fraction);
        before.put(shard.name(), was);
      }
    } catch (TestbedException e) {
      close();
      throw e;
    }
  }

  /** Returns the sample since the start of the sampling. */
  public LocalHits besideOwner() {
    return besideOwner(started, Instant.now());
  }

  /**
   * Returns the sample within a window of time.
   *
   * @param from the beginning by this machine's clock, to the millisecond, inclusive
   * @param to the end by this machine's clock, to the millisecond, inclusive
   */
  public LocalHits besideOwner(Instant from, Instant to) {
    SortedMap<String, Long> sample = new TreeMap<>();
    long beside = 0;
    for (ReplicaSet shard : cluster.shards()) {
      Set<String> hosts =
          topology.shard(shard.name()).hosts().stream()
              .map(host -> host.name())
              .collect(Collectors.toSet());
      Bson window =
          Filters.and(
              Filters.eq("ns", namespace),
              OPERATIONS,
              EXECUTED,
              Filters.ne("appName", Admin.APPLICATION),
              Filters.gte("ts", new BsonDateTime(from.toEpochMilli())),
              Filters.lte("ts", new BsonDateTime(to.toEpochMilli())));
      long sampled = 0;
      for (BsonDocument entry :
          shard
              .primary()
              .client()
              .getDatabase(database)
              .getCollection(PROFILE, BsonDocument.class)
              .find(window)
              .projection(Projections.include("client"))) {
        String client = entry.getString("client", new BsonString("")).getValue();
        sampled++;
        beside += hosts.contains(ServerEvidence.hostOf(topology, withoutPort(client))) ? 1 : 0;
      }
      sample.put(shard.name(), sampled);
    }
    return new LocalHits(new OperationCounts(sample), beside);
  }

  private static String withoutPort(String client) {
    int colon = client.indexOf(':');
    return colon < 0 ? client : client.substring(0, colon);
  }

  private void createProfile(Admin shard) {
    shard.run(
        database,
        new BsonDocument("create", new BsonString(PROFILE))
            .append("capped", BsonBoolean.TRUE)
            .append("size", new BsonInt64(PROFILE_BYTES)));
  }

  private void discardEntries(Admin shard) {
    // The profiler is turned off first, because a server cannot drop the collection while it writes
    // entries to it. A drop without the mongos is harmless, because the collection is local to one
    // mongod.
    profile(shard, 0, 100, 1);
    shard.client().getDatabase(database).getCollection(PROFILE).drop();
  }

  private BsonDocument profile(Admin shard, int level, int slowMillis, double fraction) {
    return shard.run(
        database,
        new BsonDocument("profile", new BsonInt32(level))
            .append("slowms", new BsonInt32(slowMillis))
            .append("sampleRate", new BsonDouble(fraction)));
  }

  /** Ends the sampling. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (ReplicaSet shard : cluster.shards()) {
      BsonDocument was = before.get(shard.name());
      if (was != null) {
        discardEntries(shard.primary());
        profile(
            shard.primary(),
            was.getNumber("was").intValue(),
            was.getNumber("slowms").intValue(),
            was.getNumber("sampleRate").doubleValue());
      }
    }
  }
}
