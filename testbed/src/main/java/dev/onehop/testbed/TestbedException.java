package dev.onehop.testbed;

import org.jspecify.annotations.Nullable;

/**
 * The testbed cannot do a requested operation. The message is for users: one line, followed by the
 * last lines of a server's log if they contain the reason.
 */
public class TestbedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public TestbedException(String message) {
    super(message);
  }

  public TestbedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
