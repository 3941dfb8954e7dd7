package dev.onehop.cli.propagate;

import java.util.Locale;

/** The way by which a change is seen. All of them are open in every test. */
enum StreamPath {
  /** The official driver's change stream through a mongos. */
  MONGOS,
  /** OneHop's change stream of each shard, events as they come. */
  SHARDS,
  /** OneHop's change stream of each shard, put in order. */
  ORDERED;

  /** The name in results. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
