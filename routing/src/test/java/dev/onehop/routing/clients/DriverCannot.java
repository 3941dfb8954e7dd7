package dev.onehop.routing.clients;

/**
 * A test needs a feature that the Java driver or its reactive client does not have. The test is
 * skipped.
 */
public final class DriverCannot extends RuntimeException {
  private static final long serialVersionUID = 1;

  public DriverCannot(String what) {
    super(what);
  }
}
