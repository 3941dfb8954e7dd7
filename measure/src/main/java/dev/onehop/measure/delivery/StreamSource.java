package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import java.util.Locale;

/** Where change events are read. */
public enum StreamSource {
  /** A mongos, which merges the shards' streams, by the official driver's change stream. */
  MONGOS,
  /** Each shard itself, by OneHop's change stream. */
  DIRECT;

  /** The name in options and results. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The source of that name.
   *
   * @throws Failure if there is none
   */
  public static StreamSource named(String label) {
    for (StreamSource source : values()) {
      if (source.label().equals(label)) {
        return source;
      }
    }
    throw Failure.usage("unknown source '" + label + "'; sources: mongos, direct");
  }
}
