package dev.onehop.testbed.topology;

/**
 * A topology that cannot be read or makes no sense. The message is one line fit for a user and,
 * when the fault lies in a file, begins with {@code file:line: }.
 */
public final class TopologyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  TopologyException(String message) {
    super(message);
  }
}
