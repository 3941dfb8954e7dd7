package dev.onehop.streams.event;

/** The order of events of several shards. */
public enum Order {
  /**
   * The events of each document are in the order in which they happened; events of different
   * documents are in the order of arrival. An event waits until the config servers confirm that no
   * range, collection or database moved before it. It waits for other shards only around such a
   * move.
   */
  PER_KEY,

  /**
   * All events are in the order of their resume tokens, as in the stream of a mongos. An event
   * waits until every shard has confirmed that it has no older event.
   */
  TOTAL
}
