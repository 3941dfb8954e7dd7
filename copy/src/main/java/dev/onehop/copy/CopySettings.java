package dev.onehop.copy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a copy, at first with the default values. Only {@link ClusterCopy.Builder}
 * changes them; each copy has its own clone.
 */
final class CopySettings implements Cloneable {
  final String from;
  final String to;
  Consumer<MongoClientSettings.Builder> fromSettings = settings -> {};
  Consumer<MongoClientSettings.Builder> toSettings = settings -> {};
  String job = "copy";
  Begin begin = Begin.NEW;
  Set<CopyPhase> phases = EnumSet.of(CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.INDEXES);
  Mapping mapping = Mapping.ALL;
  Set<CopyOperation> operations = EnumSet.allOf(CopyOperation.class);
  int readersPerShard = 4;
  int batchSize = 1_000;
  long rangeBytes = 32L << 20;
  double documentsPerSecond = Double.POSITIVE_INFINITY;
  double bytesPerSecond = Double.POSITIVE_INFINITY;
  Duration lease = Duration.ofSeconds(10);
  boolean reverse;
  boolean ignoreSpace;
  @Nullable ReadOrder order;

  CopySettings(String from, String to) {
    this.from = from;
    this.to = to;
  }

  /** A clone with another mapping. */
  CopySettings with(Mapping other) {
    try {
      CopySettings changed = (CopySettings) clone();
      changed.mapping = other;
      return changed;
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Checks the settings of a builder.
   *
   * @throws IllegalArgumentException if they contradict each other, or a connection string is
   *     malformed
   */
  void check() {
    if (reverse && (!mapping.equals(Mapping.ALL) || begin == Begin.OVERWRITE || order != null)) {
      throw new IllegalArgumentException(
          "a reverse copy takes its collections, names and order from the finished job, and drops"
              + " nothing: remove these settings");
    }
    var unusedFrom = new ConnectionString(from);
    var unusedTo = new ConnectionString(to);
    if (order != null && !operations.contains(CopyOperation.UPDATE)) {
      throw new IllegalArgumentException(
          "orderBy needs updates: an update may move a document to a part of the index that is"
              + " already read; include updates, or remove orderBy");
    }
  }

  /** Whether the copy applies the changes of the source. */
  boolean isFollowing() {
    return phases.contains(CopyPhase.INCREMENTAL);
  }

  /** Checks that a value is from 1 to a limit, and returns it. */
  static int between(String name, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(name + " is from 1 to " + most + ", not " + value);
    }
    return value;
  }

  /** Checks that a value is above 0, and returns it. */
  static double positive(String name, double value) {
    if (!(value > 0)) {
      throw new IllegalArgumentException(name + " must be positive: " + value);
    }
    return value;
  }
}
