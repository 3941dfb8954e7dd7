package dev.onehop.measure.delivery;

import java.util.Locale;

/** The way by which a change is seen. All of them are open in every test. */
enum StreamPath {
  /** The official driver's change stream through a mongos. */
  MONGOS(0),
  /** OneHop's change stream of each shard, events as they come. */
  SHARDS(1),
  /** OneHop's change stream of each shard, put in order. */
  ORDERED(2);

  private final int number;

  StreamPath(int number) {
    this.number = number;
  }

  /** Counts the paths from 0. */
  int number() {
    return number;
  }

  /** The name in results. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
