package dev.onehop.testbed;

import org.jspecify.annotations.Nullable;

/**
 * The testbed cannot do what it was asked for. The message is fit for a user: one clear line, and
 * below it the last lines of a server's log where these say why.
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
