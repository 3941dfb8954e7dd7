package dev.onehop.measure.report;

import dev.onehop.measure.results.ResyncCell;

/** The line of a way to make a member. */
enum MethodLook implements Look {
  LOGICAL(ResyncCell.LOGICAL, "logical (initial sync)", "m-async", "M0-5L5 4H-5z"),
  FILES(ResyncCell.FILES, "files", "m-direct-async", "M0-5.5L5.5 0L0 5.5L-5.5 0z");

  private final String method;
  private final String label;
  private final String cssClass;
  private final String marker;

  MethodLook(String method, String label, String cssClass, String marker) {
    this.method = method;
    this.label = label;
    this.cssClass = cssClass;
    this.marker = marker;
  }

  String method() {
    return method;
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
    return label;
  }
}
