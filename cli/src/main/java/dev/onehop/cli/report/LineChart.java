package dev.onehop.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A chart of lines over a common axis, as SVG that takes its colours from the page's CSS. */
final class LineChart {

  /** A value and what to say about it when it is pointed at. */
  record Spot(double x, double y, String says) {}

  private record Line(String cssClass, String marker, boolean spots, List<Spot> points) {}

  private static final int LEFT = 52;
  private static final int RIGHT = 12;
  private static final int TOP = 12;
  private static final int BOTTOM = 44;

  private final String title;
  private final int width;
  private final int height;
  private final Axis x;
  private final Axis y;
  private final List<Line> lines = new ArrayList<>();

  LineChart(String title, int width, int height, Axis x, Axis y) {
    this.title = title;
    this.width = width;
    this.height = height;
    this.x = x;
    this.y = y;
  }

  /** Adds a line with a marker at each of its points. */
  LineChart line(Series series, List<Spot> points) {
    lines.add(new Line("series " + series.cssClass(), series.marker(), true, List.copyOf(points)));
    return this;
  }

  /** Adds a curve without markers. */
  LineChart curve(Series series, List<Spot> points) {
    lines.add(new Line("series " + series.cssClass(), "", false, List.copyOf(points)));
    return this;
  }

  /** Adds a line to compare with: a bound. */
  LineChart bound(String cssClass, List<Spot> points) {
    lines.add(0, new Line("bound " + cssClass, "", false, List.copyOf(points)));
    return this;
  }

  String toSvg() {
    StringBuilder svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n",
            width,
            height,
            Html.escape(title)));
    grid(svg);
    lines.forEach(line -> draw(svg, line));
    return svg.append("</svg>\n").toString();
  }

  private void grid(StringBuilder svg) {
    int bottom = height - BOTTOM;
    for (Axis.Tick tick : y.ticks()) {
      double at = y(tick.value());
      svg.append(format("<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, width - RIGHT));
      svg.append(
          format(
              "<text class=\"y\" x=\"%d\" y=\"%.1f\">%s</text>", LEFT - 6, at + 4, tick.label()));
      svg.append('\n');
    }
    double free = -1e9;
    for (Axis.Tick tick : x.ticks()) {
      double at = x(tick.value());
      svg.append(format("<path class=\"tick\" d=\"M%.1f %dv5\"/>", at, bottom));
      // A label that would run into the one before it is left out; its mark stays.
      double half = 4 + tick.label().length() * 3.6;
      if (at - half >= free) {
        svg.append(
            format(
                "<text class=\"x\" x=\"%.1f\" y=\"%d\">%s</text>", at, bottom + 18, tick.label()));
        free = at + half;
      }
      svg.append('\n');
    }
    svg.append(format("<path class=\"axis\" d=\"M%d %dH%d\"/>%n", LEFT, bottom, width - RIGHT));
    svg.append(
        format(
            "<text class=\"x name\" x=\"%.1f\" y=\"%d\">%s</text>%n",
            (LEFT + width - RIGHT) / 2.0, height - 7, Html.escape(x.label())));
  }

  private void draw(StringBuilder svg, Line line) {
    if (line.points().isEmpty()) {
      return;
    }
    svg.append("<g class=\"").append(line.cssClass()).append("\"><path class=\"line\" d=\"");
    for (int i = 0; i < line.points().size(); i++) {
      Spot spot = line.points().get(i);
      svg.append(i == 0 ? 'M' : 'L').append(format("%.1f %.1f", x(spot.x()), y(spot.y())));
    }
    svg.append("\"/>");
    for (Spot spot : line.points()) {
      if (line.spots()) {
        svg.append(
            format(
                "<path class=\"mark\" transform=\"translate(%.1f %.1f)\" d=\"%s\">"
                    + "<title>%s</title></path>",
                x(spot.x()), y(spot.y()), line.marker(), Html.escape(spot.says())));
      }
    }
    svg.append("</g>\n");
  }

  private double x(double value) {
    return LEFT + x.fraction(value) * (width - LEFT - RIGHT);
  }

  private double y(double value) {
    return height - BOTTOM - y.fraction(value) * (height - TOP - BOTTOM);
  }

  private static String format(String format, Object... args) {
    return String.format(Locale.ROOT, format, args);
  }
}
