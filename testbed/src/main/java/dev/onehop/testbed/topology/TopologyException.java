package dev.onehop.testbed.topology;

/**
 * A topology that cannot be read or is invalid. The message is one line for users. For an error in
 * a file it begins with {@code file:line: }.
 */
public final class TopologyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  TopologyException(String message) {
    super(message);
  }
}
