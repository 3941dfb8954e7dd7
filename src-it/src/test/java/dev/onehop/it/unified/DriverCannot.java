package dev.onehop.it.unified;

/** A test asks for what the Java driver, or its reactive client, does not have: it is skipped. */
final class DriverCannot extends RuntimeException {
  private static final long serialVersionUID = 1;

  DriverCannot(String what) {
    super(what);
  }
}
