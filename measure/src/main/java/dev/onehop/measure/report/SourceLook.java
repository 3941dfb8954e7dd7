package dev.onehop.measure.report;

/** The line of a source of change events. */
enum SourceLook implements Look {
  MONGOS("mongos", "m-async", "M0-5L5 4H-5z"),
  DIRECT("direct", "m-direct-async", "M0-5.5L5.5 0L0 5.5L-5.5 0z");

  private final String source;
  private final String cssClass;
  private final String marker;

  SourceLook(String source, String cssClass, String marker) {
    this.source = source;
    this.cssClass = cssClass;
    this.marker = marker;
  }

  /** Whether a point's source is this one. */
  boolean is(String name) {
    return source.equals(name);
  }

  @Override
  public String cssClass() {
    return cssClass;
  }

  @Override
  public String marker() {
    return marker;
  }

  @Override
  public String label() {
    return source;
  }
}
