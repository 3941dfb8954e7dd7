package dev.onehop.measure.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** A chart of lines over a common axis, as SVG that takes its colours from the page's CSS. */
final class LineChart {

  /**
   * A value and what to say about it when it is pointed at; nothing if empty.
   *
   * @param low the least that was measured there; {@code y} itself if once only
   * @param high the most
   */
  record Spot(double x, double y, String says, double low, double high) {
    Spot(double x, double y, String says) {
      this(x, y, says, y, y);
    }
  }

  /** How large a chart is, in CSS pixels where it is shown at full size. */
  enum Size {
    WIDE("wide", 1100, 420, 272, true),
    NARROW("narrow", 400, 320, 14, false),
    SMALL("", 380, 280, 14, false);

    private final String cssClass;
    private final int width;
    private final int height;

    /** Room beside the lines. */
    private final int right;

    /** Whether each line's name stands at its end. */
    private final boolean named;

    Size(String cssClass, int width, int height, int right, boolean named) {
      this.cssClass = cssClass;
      this.width = width;
      this.height = height;
      this.right = right;
      this.named = named;
    }
  }

  private record Line(
      String cssClass, String marker, boolean spots, String name, List<Spot> points) {}

  private static final int LEAST_LEFT = 52;
  private static final int TOP = 30;
  private static final int BOTTOM = 46;
  private static final int NAME_LINE = 16;
  private static final double LETTER = 6.5;

  private final String title;
  private final Size size;
  private final Axis x;
  private final Axis y;
  private final int left;
  private final List<Line> lines = new ArrayList<>();

  LineChart(String title, Size size, Axis x, Axis y) {
    this.title = title;
    this.size = size;
    this.x = x;
    this.y = y;
    int longest = y.ticks().stream().mapToInt(tick -> tick.label().length()).max().orElse(0);
    this.left = Math.max(LEAST_LEFT, (int) Math.ceil(14 + longest * LETTER));
  }

  /** Adds a line with a marker at each of its points. */
  LineChart line(Look series, String name, List<Spot> points) {
    lines.add(
        new Line("series " + series.cssClass(), series.marker(), true, name, List.copyOf(points)));
    return this;
  }

  /** Adds a curve without markers. */
  LineChart curve(Look series, List<Spot> points) {
    lines.add(new Line("series " + series.cssClass(), "", false, "", List.copyOf(points)));
    return this;
  }

  /** Adds a line to compare with: a bound. */
  LineChart bound(String cssClass, String name, List<Spot> points) {
    if (points.isEmpty()) {
      return this;
    }
    lines.add(0, new Line("bound " + cssClass, "", false, name, List.copyOf(points)));
    return this;
  }

  String toSvg() {
    StringBuilder svg = new StringBuilder();
    svg.append(
        format(
            "<svg class=\"chart %s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n",
            size.cssClass, size.width, size.height, Html.escape(title)));
    grid(svg);
    lines.forEach(line -> draw(svg, line));
    if (size.named) {
      names(svg);
    }
    // Above all else, so that no line hides what is said about another's point.
    lines.forEach(line -> tips(svg, line));
    return svg.append("</svg>\n").toString();
  }

  private int right() {
    return size.width - size.right;
  }

  private int bottom() {
    return size.height - BOTTOM;
  }

  private void grid(StringBuilder svg) {
    for (Axis.Tick tick : y.ticks()) {
      double at = y(tick.value());
      svg.append(format("<path class=\"grid\" d=\"M%d %.1fH%d\"/>", left, at, right()));
      if (!tick.label().isEmpty()) {
        svg.append(
            format(
                "<text class=\"y\" x=\"%d\" y=\"%.1f\">%s</text>", left - 7, at + 4, tick.label()));
      }
      svg.append('\n');
    }
    svg.append(
        format("<text class=\"y-name\" x=\"6\" y=\"14\">%s</text>%n", Html.escape(y.label())));
    double free = -1e9;
    for (Axis.Tick tick : x.ticks()) {
      double at = x(tick.value());
      svg.append(format("<path class=\"tick\" d=\"M%.1f %dv5\"/>", at, bottom()));
      // A label that would run into the one before it is left out; its mark stays.
      double half = 4 + tick.label().length() * 3.6;
      if (at - half >= free) {
        svg.append(
            format(
                "<text class=\"x\" x=\"%.1f\" y=\"%d\">%s</text>",
                at, bottom() + 19, tick.label()));
        free = at + half;
      }
      svg.append('\n');
    }
    svg.append(format("<path class=\"axis\" d=\"M%d %dH%d\"/>%n", left, bottom(), right()));
    svg.append(
        format(
            "<text class=\"x name\" x=\"%.1f\" y=\"%d\">%s</text>%n",
            (left + right()) / 2.0, size.height - 7, Html.escape(x.label())));
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
    if (line.spots()) {
      for (Spot spot : line.points()) {
        if (spot.low() < spot.high()) {
          svg.append(
              format(
                  "<path class=\"range\" d=\"M%.1f %.1fV%.1f\"/>",
                  x(spot.x()), y(spot.low()), y(spot.high())));
        }
        svg.append(
            format(
                "<path class=\"mark\" transform=\"translate(%.1f %.1f)\" d=\"%s\"/>",
                x(spot.x()), y(spot.y()), line.marker()));
      }
    }
    svg.append("</g>\n");
  }

  /** The lines' names at their ends, moved up or down where they would run into each other. */
  private void names(StringBuilder svg) {
    List<Line> named =
        lines.stream()
            .filter(line -> !line.name().isEmpty() && !line.points().isEmpty())
            .sorted(Comparator.comparingDouble(line -> y(end(line).y())))
            .toList();
    double[] at = spread(named.stream().mapToDouble(line -> y(end(line).y())).toArray());
    for (int i = 0; i < named.size(); i++) {
      Line line = named.get(i);
      double fromX = x(end(line).x()) + 8;
      double fromY = y(end(line).y());
      int textX = right() + 24;
      svg.append(
          format(
              "<g class=\"%s\"><path class=\"leader\" d=\"M%.1f %.1fL%d %.1fH%d\"/>"
                  + "<text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text></g>%n",
              line.cssClass(),
              fromX,
              fromY,
              textX - 10,
              at[i],
              textX - 4,
              textX,
              at[i] + 4,
              Html.escape(line.name())));
    }
  }

  private static Spot end(Line line) {
    return line.points().get(line.points().size() - 1);
  }

  /** Places in rising order at least a line of text apart, as near to the wished ones as goes. */
  private double[] spread(double[] wished) {
    double[] at = wished.clone();
    for (int i = 0; i < at.length; i++) {
      at[i] = Math.max(at[i], i == 0 ? TOP - 8 : at[i - 1] + NAME_LINE);
    }
    double free = bottom();
    for (int i = at.length - 1; i >= 0; i--) {
      at[i] = Math.min(at[i], free);
      free = at[i] - NAME_LINE;
    }
    return at;
  }

  private void tips(StringBuilder svg, Line line) {
    for (Spot spot : line.points()) {
      if (spot.says().isEmpty()) {
        continue;
      }
      double w = spot.says().length() * LETTER + 16;
      double at = Math.max(w / 2, Math.min(size.width - w / 2, x(spot.x())));
      double top = y(spot.y()) - 38 < 0 ? y(spot.y()) + 14 : y(spot.y()) - 38;
      svg.append(
          format(
              "<g class=\"spot\"><circle class=\"hit\" cx=\"%.1f\" cy=\"%.1f\" r=\"10\"/>"
                  + "<g class=\"tip\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"24\""
                  + " rx=\"4\"/><text x=\"%.1f\" y=\"%.1f\">%s</text></g></g>%n",
              x(spot.x()),
              y(spot.y()),
              at - w / 2,
              top,
              w,
              at,
              top + 16,
              Html.escape(spot.says())));
    }
  }

  private double x(double value) {
    return left + x.fraction(value) * (right() - left);
  }

  private double y(double value) {
    return bottom() - y.fraction(value) * (bottom() - TOP);
  }

  private static String format(String format, Object... args) {
    return String.format(Locale.ROOT, format, args);
  }
}
