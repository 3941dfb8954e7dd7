package dev.onehop.flink.table;

/** A value of a document that its column cannot have. */
final class WrongValueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String path;
  private final String why;

  private WrongValueException(String path, String why) {
    super(path + ": " + why);
    this.path = path;
    this.why = why;
  }

  WrongValueException(String why) {
    this("", why);
  }

  /** This failure, seen from the document or array that has the value. */
  WrongValueException in(String name) {
    boolean direct = path.isEmpty() || path.startsWith("[");
    return new WrongValueException(name + (direct ? "" : ".") + path, why);
  }
}
