package dev.onehop.measure.report;

import dev.onehop.measure.results.Client;
import java.util.List;

/**
 * The style of a line, the same in all charts of a page: one of ten colours and one of four
 * markers. Two looks of the same colour have different markers.
 *
 * @param name the name at the end of the line
 * @param look the number of the colour and marker, from 0 to 39; below 0 for a line for comparison
 * @param dashed whether the line belongs to a client whose pool is not of the usual size
 * @param thick whether requests were pipelined
 */
record LineStyle(String name, int look, boolean dashed, boolean thick) {
  private static final int COLOURS = 10;

  private static final List<String> MARKERS =
      List.of(
          "M-4-4h8v8h-8z",
          "M0-5L5 4H-5z",
          "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
          "M0-5.5L5.5 0L0 5.5L-5.5 0z");

  /**
   * The names with a fixed look; the index in this list is the look. Names in the same inner list
   * have the same role.
   */
  private static final List<List<String>> NAMES =
      List.of(
          List.of("legacy", "majority", "driver-one-mongos"),
          List.of("async", "mongos", "logical"),
          List.of("targeted-async", "ordered"),
          List.of("direct-async", "shards", "direct", "onehop", "files"),
          List.of("targeted-sync", "pcsm"),
          List.of("direct-sync", "mongoshake"),
          List.of("near-mongos", "mongosync"),
          List.of("local-threshold-0", "migration-verifier"),
          List.of("pipelined-only"),
          List.of("straight-async"));

  /**
   * Returns the style for a name. An unknown name has an arbitrary look, which is always the same.
   */
  static LineStyle of(String name) {
    for (int look = 0; look < NAMES.size(); look++) {
      if (NAMES.get(look).contains(name)) {
        return new LineStyle(name, look, false, false);
      }
    }
    return new LineStyle(
        name, Math.floorMod(name.hashCode(), COLOURS * MARKERS.size()), false, false);
  }

  /**
   * Returns the style of a client. If its pool is not of the usual size, the line is dashed and its
   * name has the size.
   */
  static LineStyle of(Client client, int usualConnections) {
    boolean usual = client.connections() == usualConnections;
    String name =
        client.name() + (usual ? "" : ", " + Format.counted(client.connections(), "connection"));
    return new LineStyle(name, of(client.mode()).look(), !usual, client.pipelining());
  }

  /** Returns the style of a line for comparison. */
  static LineStyle bound(String name) {
    return new LineStyle(name, -1, false, false);
  }

  boolean isBound() {
    return look < 0;
  }

  /** Returns the CSS classes for colour and dashes. */
  String cssClass() {
    return isBound()
        ? "bound"
        : "series c" + look % COLOURS + (dashed ? " alt" : "") + (thick ? " piped" : "");
  }

  /** Returns the outline of the marker around the origin; empty for a line for comparison. */
  String marker() {
    return isBound() ? "" : MARKERS.get((look + look / COLOURS) % MARKERS.size());
  }

  /** Returns a piece of the line with its marker, as SVG, for a list of names. */
  String sample() {
    return "<svg viewBox=\"-16 -8 32 16\" aria-hidden=\"true\"><g class=\"%s\"><path class=\"line\" d=\"M-15 0H15\"/><path class=\"mark\" d=\"%s\"/></g></svg>"
        .formatted(cssClass(), marker());
  }
}
