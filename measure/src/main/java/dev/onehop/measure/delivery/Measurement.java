package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What can be measured, in the order of the menu. */
public enum Measurement {
  /** The writer is an application with OneHop's client. */
  CLIENT_TO_CLIENT("written by one application, seen by another's change stream"),
  /** The writer is a program with the official driver. */
  MONGO_TO_CLIENT("written by another program through a mongos, seen by the application's stream"),
  /** As the first, and read by others besides. */
  CLIENT_TO_MONGO("written by the application, readable with majority by others, and seen"),
  /** A part of the collection, while others write to it. */
  BOOTSTRAP("a query subscribed to for the first time: read, and joined with its stream"),
  /** All of the collection, while others write to it. */
  INITIAL_SYNC("all documents of a collection read and handed over, then live"),
  /** Clients in processes of their own. */
  LOAD("many clients that bootstrap, write and listen at once");

  private final String description;

  Measurement(String description) {
    this.description = description;
  }

  /** The name in options and results. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** For a person. */
  public String description() {
    return description;
  }

  /** Whether objects are written in tests, so many per write. */
  public boolean isPropagation() {
    return this == CLIENT_TO_CLIENT || this == MONGO_TO_CLIENT || this == CLIENT_TO_MONGO;
  }

  /**
   * The measurement of that name.
   *
   * @throws Failure if there is none
   */
  public static Measurement named(String label) {
    for (Measurement each : values()) {
      if (each.label().equals(label)) {
        return each;
      }
    }
    throw Failure.usage(
        "unknown measurement '"
            + label
            + "'; measurements: "
            + Arrays.stream(values()).map(Measurement::label).collect(Collectors.joining(", ")));
  }
}
