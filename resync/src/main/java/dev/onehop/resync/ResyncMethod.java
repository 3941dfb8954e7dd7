package dev.onehop.resync;

import java.util.List;
import java.util.Locale;

/** The method by which a new member gets its data. */
public enum ResyncMethod {
  /** The server's initial sync: it reads all documents and builds all indexes. */
  LOGICAL,
  /** A copy of another member's files. */
  FILES;

  /** The name in options and results. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the method with this label.
   *
   * @throws Failure if there is none
   */
  public static ResyncMethod named(String name) {
    return Names.find(name, List.of(values()), ResyncMethod::label, "--method takes %s, not '%s'");
  }
}
