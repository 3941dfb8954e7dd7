package dev.onehop.streams.event;

/** The order of the events of different shards in a merged stream. */
public enum Order {
  /**
   * The events of each document are in the order in which they happened. Events of different
   * documents are in no fixed order. An event waits until the owners of all ranges, collections and
   * databases at the event's time are read from the config servers. It waits for other shards only
   * if a range, collection or database has moved recently.
   */
  PER_KEY,

  /**
   * All events are in the order of their resume tokens, as in the stream of a mongos. An event
   * waits until every shard has confirmed that it has no older event.
   */
  TOTAL
}
