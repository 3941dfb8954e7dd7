package dev.onehop.streams.event;

/** In which order the events of several shards are given. */
public enum Order {
  /**
   * The events of each document in the order in which they happened; those of different documents
   * as they arrive. An event waits until the config servers have said that no range, collection or
   * database has moved before it, and for the other shards only around a change of that.
   */
  PER_KEY,

  /**
   * All events in the order of their resume tokens, which is the order in which a mongos gives
   * them. An event waits until every shard has said that nothing older will come from it.
   */
  TOTAL
}
