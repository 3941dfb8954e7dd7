package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.OplogWindow;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.KeySamples;
import dev.onehop.copy.internal.structure.KeySamples.Size;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.wire.message.CommandFailure;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;

/**
 * Estimates before the start how long a copy will take. The estimate uses the size of the
 * collections on each shard and the speed of a short read.
 */
public record Forecast(ClusterEnd source) {
  private static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int BATCH = 1_000;

  /**
   * Compares the estimated time of the copy with the window of the source's oplogs.
   *
   * @param documentsPerSecond the limit of documents per second, may be infinite
   * @param bytesPerSecond the limit of bytes per second, may be infinite
   * @throws CopyException if the oplogs will lose changes that the copy needs
   */
  public void check(List<CollectionSpec> specs, double documentsPerSecond, double bytesPerSecond)
      throws InterruptedException {
    OplogWindow window = OplogWindow.of(source);
    if (window == null) {
      return;
    }
    Duration time = time(specs, documentsPerSecond, bytesPerSecond);
    if (time.compareTo(window.length()) > 0) {
      throw new CopyException(
          ("the copy will take about %s, but the oplog of %s keeps changes only for about %s at"
                  + " the current rate of writes, so changes since the start would be lost:"
                  + " enlarge the oplog (replSetResizeOplog)")
              .formatted(text(time), window.place(), text(window.length())));
    }
  }

  private static String text(Duration time) {
    long seconds = time.toSeconds();
    return seconds < 120
        ? seconds + " s"
        : seconds < 7_200 ? seconds / 60 + " min" : seconds / 3_600 + " h";
  }

  private Duration time(
      List<CollectionSpec> specs, double documentsPerSecond, double bytesPerSecond)
      throws InterruptedException {
    KeySamples samples = new KeySamples(source);
    // The sizes of the collections of each shard.
    Map<String, Map<String, Size>> loads = new TreeMap<>();
    Size all = Size.NONE;
    for (CollectionSpec spec : specs) {
      if (spec.kind() == CollectionSpec.Kind.VIEW) {
        continue;
      }
      Map<String, Size> sizes;
      try {
        sizes = samples.sizes(spec.stored());
      } catch (CommandFailure gone) {
        continue;
      }
      for (Map.Entry<String, Size> shard : sizes.entrySet()) {
        all = all.plus(shard.getValue());
        loads
            .computeIfAbsent(shard.getKey(), id -> new TreeMap<>())
            .put(spec.stored(), shard.getValue());
      }
    }
    double seconds = Math.max(all.documents() / documentsPerSecond, all.bytes() / bytesPerSecond);
    for (Map.Entry<String, Map<String, Size>> shard : loads.entrySet()) {
      Map<String, Size> load = shard.getValue();
      long bytes = load.values().stream().mapToLong(Size::bytes).sum();
      if (bytes > 0) {
        Map.Entry<String, Size> largest =
            Collections.max(
                load.entrySet(), Map.Entry.comparingByValue(Comparator.comparingLong(Size::bytes)));
        seconds = Math.max(seconds, bytes / speed(shard.getKey(), largest.getKey()));
      }
    }
    return Duration.ofMillis((long) (seconds * 1_000));
  }

  /**
   * Measures the bytes per second that one reader reads. The documents of this measurement are not
   * copied.
   */
  private double speed(String shard, String namespace) throws InterruptedException {
    String database = Mapping.databaseOf(namespace);
    BsonString collection = new BsonString(namespace.substring(database.length() + 1));
    ReplicaSet servers = Waits.one(source.shard(shard));
    long begun = System.nanoTime();
    long bytes = 0;
    long cursor;
    BsonDocument command = new BsonDocument("find", collection);
    do {
      BsonDocument reply =
          Waits.one(
              source.send(servers, database, command.append("batchSize", new BsonInt32(BATCH))));
      bytes += FullCopy.bytes(CursorReplies.documents(reply));
      cursor = CursorReplies.id(reply);
      command = new BsonDocument("getMore", new BsonInt64(cursor)).append("collection", collection);
    } while (cursor != 0 && System.nanoTime() - begun <= PROBE_NANOS);
    if (cursor != 0) {
      Waits.first(
          source.send(
              servers,
              database,
              new BsonDocument("killCursors", collection)
                  .append("cursors", new BsonArray(List.of(new BsonInt64(cursor))))));
    }
    // An empty collection has no bytes and takes almost no time, so both numbers are at least 1.
    return Math.max(1, bytes) * 1e9 / Math.max(1, System.nanoTime() - begun);
  }
}
