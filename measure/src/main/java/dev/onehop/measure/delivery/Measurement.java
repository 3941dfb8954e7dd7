package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import dev.onehop.resync.Names;
import java.util.List;
import java.util.Locale;

/** The measurements of {@code onehop propagate}, in the order of the menu. */
public enum Measurement {
  /** The writer is an application with OneHop's client. */
  CLIENT_TO_CLIENT("written by one application, read by another's change stream"),
  /** The writer is a program with the official driver. */
  MONGO_TO_CLIENT("written by another program through a mongos, read by the application's stream"),
  /** The writer is an application with OneHop's client, and other programs read its rows, too. */
  CLIENT_TO_MONGO("written by the application, read by its stream and with read concern majority"),
  /** The reader subscribes to a part of the collection while others write to it. */
  BOOTSTRAP("the first subscription to a query: documents are read and joined with the stream"),
  /** The reader subscribes to the whole collection while others write to it. */
  INITIAL_SYNC("all documents of a collection are read and delivered, then the stream is live"),
  /** Many clients in separate processes write and read. */
  LOAD("many clients that bootstrap, write and read at once");

  private final String description;

  Measurement(String description) {
    this.description = description;
  }

  /** The name in options and results. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The description for the menu. */
  public String description() {
    return description;
  }

  /** Whether a test writes objects, with a configured number of objects per write. */
  public boolean isPropagation() {
    return this == CLIENT_TO_CLIENT || this == MONGO_TO_CLIENT || this == CLIENT_TO_MONGO;
  }

  /**
   * The measurement with this name.
   *
   * @throws Failure if there is no such measurement
   */
  public static Measurement named(String label) {
    return Names.find(
        label,
        List.of(values()),
        Measurement::label,
        "unknown measurement '%2$s'; measurements: %1$s");
  }
}
