package dev.onehop.copy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The settings that {@link ClusterCopy.Builder} collects. */
record CopySettings(
    String from,
    String to,
    Consumer<MongoClientSettings.Builder> fromSettings,
    Consumer<MongoClientSettings.Builder> toSettings,
    String job,
    ClusterCopy.Begin begin,
    Set<CopyPhase> phases,
    Mapping mapping,
    Set<CopyOperation> operations,
    int readersPerShard,
    int batchSize,
    long rangeBytes,
    double documentsPerSecond,
    double bytesPerSecond,
    Duration lease,
    boolean reverse,
    boolean ignoreSpace,
    @Nullable ReadOrder order) {
  private static final Duration LEAST_LEASE = Duration.ofSeconds(2);

  CopySettings {
    phases = Set.copyOf(phases);
    operations = Set.copyOf(operations);
    var unusedFrom = new ConnectionString(from);
    var unusedTo = new ConnectionString(to);
    if (order != null && !operations.contains(CopyOperation.UPDATE)) {
      throw new IllegalArgumentException(
          "orderBy needs updates: an update may move a document to a part of the index that is"
              + " already read; include updates, or remove orderBy");
    }
  }

  // Each of these methods checks a value, and returns it.

  static String jobName(String name) {
    if (name.isBlank()) {
      throw new IllegalArgumentException("the name of a job must not be blank");
    }
    return name;
  }

  static <T> Set<T> some(String what, Set<T> wanted) {
    if (wanted.isEmpty()) {
      throw new IllegalArgumentException("the set of " + what + " is empty");
    }
    return Set.copyOf(wanted);
  }

  static long rangeBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("rangeBytes must be positive: " + bytes);
    }
    return bytes;
  }

  static Duration lease(Duration time) {
    if (time.compareTo(LEAST_LEASE) < 0) {
      throw new IllegalArgumentException("lease must be 2 seconds at least: " + time);
    }
    return time;
  }

  static int between(String name, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(name + " is from 1 to " + most + ", not " + value);
    }
    return value;
  }

  static double positive(String name, double value) {
    if (!(value > 0)) {
      throw new IllegalArgumentException(name + " must be positive: " + value);
    }
    return value;
  }

  /** Whether the copy applies the changes of the source. */
  boolean isFollowing() {
    return phases.contains(CopyPhase.INCREMENTAL);
  }

  /** The same settings with other collections or names. */
  CopySettings with(Mapping other) {
    return new CopySettings(
        from,
        to,
        fromSettings,
        toSettings,
        job,
        begin,
        phases,
        other,
        operations,
        readersPerShard,
        batchSize,
        rangeBytes,
        documentsPerSecond,
        bytesPerSecond,
        lease,
        reverse,
        ignoreSpace,
        order);
  }
}
