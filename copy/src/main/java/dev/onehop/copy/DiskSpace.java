package dev.onehop.copy;

import com.mongodb.MongoException;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.KeySamples;
import dev.onehop.copy.internal.structure.KeySamples.Size;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Compares the disk space of the source's collections and indexes with the free space on the
 * destination's disks. It assumes that the destination compresses data as the source does. If two
 * shards use the same disk, its free space is counted twice.
 */
record DiskSpace(ClusterEnd source, ClusterEnd destination) {
  /**
   * The needed space as a multiple of the source's space. It is above 1, because new data is stored
   * less densely at first, and index builds store sorted keys.
   */
  private static final double RESERVE = 1.1;

  // A server reports its disk space only for a database that exists on it. These databases are
  // tried in this order.
  private static final List<String> DATABASES =
      List.of("config", "admin", ClusterCopy.STATE_DATABASE);

  /**
   * Compares the needed and the free space.
   *
   * @param specs the collections that are copied without a filter
   * @return null if the space is enough; otherwise a text that says how much space is missing, or
   *     why the free space is unknown
   */
  @Nullable Shortage shortage(List<CollectionSpec> specs) throws InterruptedException {
    Map<String, Long> free = free();
    if (free.isEmpty()) {
      return new Shortage("the destination does not report how much disk space is free", false);
    }
    double split = 0;
    double whole = 0;
    KeySamples samples = new KeySamples(source);
    for (CollectionSpec spec : specs) {
      double bytes = RESERVE * stored(samples, spec);
      if (spec.sharding() != null && destination.isSharded()) {
        split += bytes;
      } else {
        whole += bytes;
      }
    }
    long all = free.values().stream().mapToLong(Long::longValue).sum();
    if (split + whole > all) {
      return new Shortage(text("the destination", split + whole, all), true);
    }
    for (Map.Entry<String, Long> shard : free.entrySet()) {
      if (split / free.size() > shard.getValue()) {
        return new Shortage(
            text(
                "the destination's shard " + shard.getKey(), split / free.size(), shard.getValue()),
            true);
      }
    }
    return null;
  }

  /**
   * Too little disk space, or unknown disk space.
   *
   * @param text the message
   * @param known whether the servers have reported their disk space
   */
  record Shortage(String text, boolean known) {}

  private static String text(String place, double needed, long free) {
    return String.format(
        Locale.ROOT,
        "%s has too little disk space: documents and indexes need about %,.0f MB, and %,.0f MB are"
            + " free",
        place,
        needed / 1e6,
        free / 1e6);
  }

  private static long stored(KeySamples samples, CollectionSpec spec) throws InterruptedException {
    if (spec.kind() == CollectionSpec.Kind.VIEW) {
      return 0;
    }
    try {
      return samples.sizes(spec.stored()).values().stream().mapToLong(Size::stored).sum();
    } catch (CommandFailure gone) {
      return 0;
    }
  }

  /** The free bytes of each shard; empty if a shard does not report them. */
  private Map<String, Long> free() throws InterruptedException {
    for (String database : DATABASES) {
      Map<String, Long> free = new TreeMap<>();
      boolean all = true;
      try {
        for (Map.Entry<String, BsonDocument> shard : stats(database).entrySet()) {
          long total = number(shard.getValue(), "fsTotalSize");
          all &= total > 0;
          free.put(shard.getKey(), total - number(shard.getValue(), "fsUsedSize"));
        }
      } catch (MongoException | CommandFailure refused) {
        continue;
      }
      if (all) {
        return free;
      }
    }
    return Map.of();
  }

  private static long number(BsonDocument stats, String field) {
    return stats.getNumber(field, new BsonInt32(0)).longValue();
  }

  /**
   * The reply to {@code dbStats} of each shard. The command goes through a mongos if possible,
   * because the user need not exist on the shards.
   */
  private Map<String, BsonDocument> stats(String database) throws InterruptedException {
    BsonDocument command = ClusterEnd.command("dbStats");
    Map<String, BsonDocument> stats = new TreeMap<>();
    if (destination.isSharded()) {
      BsonValue raw = destination.run(database, command).get("raw");
      if (raw instanceof BsonDocument shards) {
        shards.forEach((shard, its) -> stats.put(shard.replaceFirst("/.*", ""), its.asDocument()));
        return stats;
      }
    }
    for (Map.Entry<String, ReplicaSet> shard : destination.shards().entrySet()) {
      stats.put(
          shard.getKey(), Waits.one(destination.send(shard.getValue(), database, command.clone())));
    }
    return stats;
  }
}
