package dev.onehop.resync;

import java.util.Locale;

/** How a new member gets its data. */
public enum ResyncMethod {
  /** The server's own initial sync: it reads all documents and builds all indexes again. */
  LOGICAL,
  /** A copy of another member's files. */
  FILES;

  /** As options and results have it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The method of a name.
   *
   * @throws Failure if there is none
   */
  public static ResyncMethod named(String name) {
    for (ResyncMethod method : values()) {
      if (method.label().equals(name)) {
        return method;
      }
    }
    throw Failure.usage("--method takes logical or files, and not '" + name + "'");
  }
}
