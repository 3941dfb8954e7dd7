package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import dev.onehop.resync.Names;
import java.util.List;
import java.util.Locale;

/** A path by which change events are read. */
public enum StreamPath {
  /** The official driver's change stream through a mongos, which merges the shards' streams. */
  MONGOS,
  /** OneHop's change stream of each shard, in arrival order. */
  SHARDS,
  /** OneHop's change stream of each shard, sorted. */
  ORDERED,
  /** The same, split into channels by OneHop. */
  DIRECT;

  /** The paths of {@code onehop consume}. */
  public static final List<StreamPath> CONSUMED = List.of(MONGOS, DIRECT);

  /** The paths of {@code onehop propagate}, all of them open in every test. */
  static final List<StreamPath> TIMED = List.of(MONGOS, SHARDS, ORDERED);

  /** The name in options and results. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The path of {@code onehop consume} with a name.
   *
   * @throws Failure if there is none
   */
  public static StreamPath consumed(String label) {
    return Names.find(label, CONSUMED, StreamPath::label, "unknown source '%2$s'; sources: %1$s");
  }
}
