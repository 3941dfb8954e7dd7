package dev.onehop.measure.report;

import dev.onehop.measure.results.PropagateMeasurement;

/** The line of a way by which a change is seen. */
enum PathLook implements Look {
  MONGOS("mongos", "m-async", "M0-5L5 4H-5z"),
  SHARDS("shards", "m-direct-async", "M0-5.5L5.5 0L0 5.5L-5.5 0z"),
  ORDERED("ordered", "m-targeted-async", "M-4.5-4.5h9v9h-9z"),
  MAJORITY(PropagateMeasurement.MAJORITY, "m-legacy", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z");

  private final String path;
  private final String cssClass;
  private final String marker;

  PathLook(String path, String cssClass, String marker) {
    this.path = path;
    this.cssClass = cssClass;
    this.marker = marker;
  }

  /** Whether a measurement's path is this one. */
  boolean is(PropagateMeasurement measurement) {
    return path.equals(measurement.path());
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
    return path;
  }
}
