package dev.onehop.jmh.check;

/** Bars that can't be used; the message says which and why. */
final class BarsException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BarsException(String message) {
    super(message);
  }
}
