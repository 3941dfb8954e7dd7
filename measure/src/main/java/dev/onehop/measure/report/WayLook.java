package dev.onehop.measure.report;

import dev.onehop.measure.results.CopyBenchRun;

/** The line of a way to copy. */
enum WayLook implements Look {
  ONE(CopyBenchRun.ONE, "one router", "m-legacy", "M-4-4h8v8h-8z"),
  OURS(CopyBenchRun.OURS, "OneHop", "m-direct-async", "M0-5.5L5.5 0L0 5.5L-5.5 0z");

  private final String way;
  private final String label;
  private final String cssClass;
  private final String marker;

  WayLook(String way, String label, String cssClass, String marker) {
    this.way = way;
    this.label = label;
    this.cssClass = cssClass;
    this.marker = marker;
  }

  String way() {
    return way;
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
