package dev.onehop.jmh.check;

/** A bar is invalid. The message names the bar and the reason. */
final class BarsException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BarsException(String message) {
    super(message);
  }
}
