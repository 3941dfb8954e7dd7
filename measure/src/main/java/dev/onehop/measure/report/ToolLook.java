package dev.onehop.measure.report;

import dev.onehop.measure.results.CopyBenchRun;
import java.util.List;

/** The line of a tool that copies. */
enum ToolLook implements Look {
  DRIVER(CopyBenchRun.DRIVER, "plain driver, one mongos", "m-legacy", "M-4-4h8v8h-8z"),
  PCSM("pcsm", "Percona ClusterSync", "m-async", "M0-5.2L5.2 4.2H-5.2z"),
  MONGOSHAKE("mongoshake", "MongoShake", "m-other", "M-4.5-4.5h9v9h-9z"),
  MONGOSYNC("mongosync", "mongosync", "m-legacy", "M0 5.2L5.2-4.2H-5.2z"),
  VERIFIER("migration-verifier", "migration-verifier", "m-legacy", "M-4-4h8v8h-8z"),
  ONEHOP(CopyBenchRun.ONEHOP, "OneHop", "m-direct-async", "M0-5.5L5.5 0L0 5.5L-5.5 0z");

  private final String tool;
  private final String label;
  private final String cssClass;
  private final String marker;

  ToolLook(String tool, String label, String cssClass, String marker) {
    this.tool = tool;
    this.label = label;
    this.cssClass = cssClass;
    this.marker = marker;
  }

  /** Those of some tools, in the order of this list. */
  static List<ToolLook> of(List<String> tools) {
    return List.of(values()).stream().filter(look -> tools.contains(look.tool)).toList();
  }

  String tool() {
    return tool;
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
