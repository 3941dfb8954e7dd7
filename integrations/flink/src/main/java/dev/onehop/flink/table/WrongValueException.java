package dev.onehop.flink.table;

/** A document has a value that does not fit the type of its column. */
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

  /**
   * Returns this failure with a name added before the path of the value.
   *
   * @param name the field or the array position that contains the value
   */
  WrongValueException in(String name) {
    boolean direct = path.isEmpty() || path.startsWith("[");
    return new WrongValueException(name + (direct ? "" : ".") + path, why);
  }
}
