package dev.onehop.measure.report;

import gg.jte.html.escape.Escape;
import gg.jte.output.StringOutput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.Formatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A chart of lines over a common axis, as SVG with colours from the page's CSS. The vertical axis
 * covers all values.
 */
final class LineChart {

  /** The smallest value on a logarithmic axis, which has no zero. */
  private static final double LEAST = 0.01;

  /**
   * A point of a line.
   *
   * @param low the smallest value that was measured at {@code x}; {@code y} if there is only one
   *     value
   * @param high the largest value that was measured at {@code x}
   */
  record Spot(double x, double y, double low, double high) {
    Spot(double x, double y) {
      this(x, y, y, y);
    }
  }

  /** The two sizes in which a chart is drawn, in CSS pixels. */
  enum Size {
    /** The names of the lines are at the ends of the lines. */
    WIDE("wide", 700, 330),
    /** The names of the lines are in the list below the chart. */
    NARROW("narrow", 380, 280);

    private final String cssClass;
    private final int width;
    private final int height;

    Size(String cssClass, int width, int height) {
      this.cssClass = cssClass;
      this.width = width;
      this.height = height;
    }
  }

  private record Line(LineStyle style, boolean marks, List<Spot> spots) {
    Spot end() {
      return spots.get(spots.size() - 1);
    }
  }

  private record Band(double from, double to, String label) {}

  private static final int LEAST_LEFT = 52;
  private static final int TOP = 30;
  private static final int BOTTOM = 46;
  private static final int NAME_LINE = 16;
  private static final double LETTER = 6.9;

  /** The width of a letter of the bold names at the ends of the lines. */
  private static final double NAME_LETTER = 8.2;

  private final String caption;
  private final Axis x;
  private final String unit;
  private final boolean logarithmic;
  private final List<Line> lines = new ArrayList<>();
  private final List<Band> bands = new ArrayList<>();
  private final DoubleSummaryStatistics range = new DoubleSummaryStatistics();

  /**
   * Creates a chart without lines.
   *
   * @param unit the label of the vertical axis
   * @param logarithmic whether the vertical axis is logarithmic; false for an axis that starts at
   *     zero
   */
  LineChart(String caption, Axis x, String unit, boolean logarithmic) {
    this.caption = caption;
    this.x = x;
    this.unit = unit;
    this.logarithmic = logarithmic;
  }

  String caption() {
    return caption;
  }

  /** Whether the chart has no lines. */
  boolean isEmpty() {
    return lines.isEmpty();
  }

  /** Adds a line with a marker at each of its points. */
  LineChart line(LineStyle style, List<Spot> spots) {
    return add(style, true, spots);
  }

  /**
   * Adds a line with markers for each style, in the order in which the styles occur.
   *
   * @param items the items, each with a point of its line
   */
  <T> LineChart lines(List<T> items, Function<T, LineStyle> style, Function<T, Spot> spot) {
    items.stream()
        .collect(
            Collectors.groupingBy(
                style, LinkedHashMap::new, Collectors.mapping(spot, Collectors.toList())))
        .forEach(this::line);
    return this;
  }

  /** Adds a curve without markers. */
  LineChart curve(LineStyle style, List<Spot> spots) {
    return add(style, false, spots);
  }

  /** Adds a line for comparison, which is drawn below all other lines. */
  LineChart bound(String name, List<Spot> spots) {
    return add(LineStyle.bound(name), false, spots);
  }

  /** Marks an interval of the horizontal axis. */
  LineChart band(double from, double to, String label) {
    bands.add(new Band(from, to, label));
    return this;
  }

  /** Gives charts the same vertical scale, for comparison. */
  static void alike(List<LineChart> charts) {
    DoubleSummaryStatistics all = new DoubleSummaryStatistics();
    charts.forEach(chart -> all.combine(chart.range));
    charts.forEach(chart -> chart.range.combine(all));
  }

  private LineChart add(LineStyle style, boolean marks, List<Spot> spots) {
    List<Spot> shown =
        spots.stream().filter(spot -> !logarithmic || spot.y() > 0).map(this::bounded).toList();
    if (!shown.isEmpty()) {
      shown.forEach(spot -> range.accept(spot.low()));
      shown.forEach(spot -> range.accept(spot.high()));
      lines.add(style.isBound() ? 0 : lines.size(), new Line(style, marks, shown));
    }
    return this;
  }

  private Spot bounded(Spot spot) {
    double least = logarithmic ? LEAST : 0;
    return new Spot(
        spot.x(),
        Math.max(least, spot.y()),
        Math.max(least, spot.low()),
        Math.max(least, spot.high()));
  }

  /** The styles of the lines, for the list of names below a narrow chart. */
  List<LineStyle> styles() {
    return lines.stream().map(Line::style).distinct().toList();
  }

  /** Draws the chart as SVG. */
  String svg(Size size) {
    return new Drawing(size).svg();
  }

  private static String escaped(String text) {
    StringOutput escaped = new StringOutput();
    Escape.htmlAttribute(text, escaped);
    return escaped.toString();
  }

  /** One drawing of the chart, at one size. */
  private final class Drawing {
    private final Formatter svg = new Formatter(Locale.ROOT);
    private final Size size;
    private final Axis y;
    private final int left;
    private final int right;

    Drawing(Size size) {
      this.size = size;
      this.y =
          logarithmic
              ? Axis.logarithmic(unit + " (log scale)", range.getMin(), range.getMax())
              : Axis.fromZero(unit, range.getMax());
      int longest = y.ticks().stream().mapToInt(tick -> tick.label().length()).max().orElse(0);
      this.left = Math.max(LEAST_LEFT, (int) Math.ceil(14 + longest * LETTER));
      int names = styles().stream().mapToInt(style -> style.name().length()).max().orElse(0);
      this.right = size.width - (size == Size.WIDE ? 38 + (int) (names * NAME_LETTER) : 14);
    }

    String svg() {
      svg.format(
          "<svg class=\"chart %s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n",
          size.cssClass, size.width, size.height, escaped(caption));
      bands.forEach(this::band);
      grid();
      lines.forEach(this::draw);
      if (size == Size.WIDE) {
        names();
      }
      // The tips come last: no line then covers the tip of another line's point.
      lines.stream().filter(Line::marks).forEach(this::tips);
      return svg.format("</svg>\n").toString();
    }

    private int bottom() {
      return size.height - BOTTOM;
    }

    private double x(double value) {
      return left + x.fraction(value) * (right - left);
    }

    private double y(double value) {
      return bottom() - y.fraction(value) * (bottom() - TOP);
    }

    private void band(Band band) {
      double from = x(band.from());
      double to = x(band.to());
      svg.format(
          "<rect class=\"band\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
          from, TOP, to - from, bottom() - TOP);
      text("x", (from + to) / 2, TOP + 12, band.label());
    }

    private void grid() {
      for (Axis.Tick tick : y.ticks()) {
        double at = y(tick.value());
        svg.format("<path class=\"grid\" d=\"M%d %.1fH%d\"/>", left, at, right);
        if (!tick.label().isEmpty()) {
          text("y", left - 7, at + 4, tick.label());
        }
      }
      text("y-name", 6, 14, y.label());
      double free = -1e9;
      for (Axis.Tick tick : x.ticks()) {
        double at = x(tick.value());
        svg.format("<path class=\"tick\" d=\"M%.1f %dv5\"/>", at, bottom());
        // A label that overlaps the label before is left out. Its mark stays.
        double half = 4 + tick.label().length() * 3.6;
        if (at - half >= free) {
          text("x", at, bottom() + 19, tick.label());
          free = at + half;
        }
      }
      svg.format("<path class=\"axis\" d=\"M%d %dH%d\"/>%n", left, bottom(), right);
      text("x name", (left + right) / 2.0, size.height - 7, x.label());
    }

    private void text(String cssClass, double atX, double atY, String text) {
      svg.format(
          "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
          cssClass, atX, atY, escaped(text));
    }

    private void draw(Line line) {
      List<String> places =
          line.spots().stream()
              .map(spot -> String.format(Locale.ROOT, "%.1f %.1f", x(spot.x()), y(spot.y())))
              .toList();
      svg.format(
          "<g class=\"%s\"><path class=\"line\" d=\"M%s\"/>",
          line.style().cssClass(), String.join("L", places));
      for (Spot spot : line.marks() ? line.spots() : List.<Spot>of()) {
        if (spot.low() < spot.high()) {
          svg.format(
              "<path class=\"range\" d=\"M%.1f %.1fV%.1f\"/>",
              x(spot.x()), y(spot.low()), y(spot.high()));
        }
        svg.format(
            "<path class=\"mark\" transform=\"translate(%.1f %.1f)\" d=\"%s\"/>",
            x(spot.x()), y(spot.y()), line.style().marker());
      }
      svg.format("</g>\n");
    }

    /** Draws the names at the ends of the lines. Names that overlap are moved up or down. */
    private void names() {
      Map<LineStyle, Line> first = new LinkedHashMap<>();
      lines.forEach(line -> first.putIfAbsent(line.style(), line));
      List<Line> named =
          first.values().stream()
              .sorted(Comparator.comparingDouble(line -> y(line.end().y())))
              .toList();
      double[] at = spread(named.stream().mapToDouble(line -> y(line.end().y())).toArray());
      for (int i = 0; i < named.size(); i++) {
        Line line = named.get(i);
        svg.format(
            "<g class=\"%s\"><path class=\"leader\" d=\"M%.1f %.1fL%d %.1fH%d\"/>"
                + "<text class=\"end\" x=\"%d\" y=\"%.1f\">%s</text></g>%n",
            line.style().cssClass(),
            x(line.end().x()) + 8,
            y(line.end().y()),
            right + 14,
            at[i],
            right + 20,
            right + 24,
            at[i] + 4,
            escaped(line.style().name()));
      }
    }

    /**
     * Returns positions in rising order, at least one line of text apart and as near as possible to
     * the wished positions.
     */
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

    private void tips(Line line) {
      for (Spot spot : line.spots()) {
        String says = line.style().name() + ", " + says(spot);
        double w = says.length() * LETTER + 16;
        double at = Math.max(w / 2, Math.min(size.width - w / 2, x(spot.x())));
        double top = y(spot.y()) - 38 < 0 ? y(spot.y()) + 14 : y(spot.y()) - 38;
        svg.format(
            "<g class=\"spot\"><circle class=\"hit\" cx=\"%.1f\" cy=\"%.1f\" r=\"10\"/><g"
                + " class=\"tip\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"24\""
                + " rx=\"4\"/><text x=\"%.1f\" y=\"%.1f\">%s</text></g></g>%n",
            x(spot.x()), y(spot.y()), at - w / 2, top, w, at, top + 16, escaped(says));
      }
    }

    /**
     * Returns the text of a tip, such as {@code 64 threads: 225 operations per second (203-248)}.
     */
    private String says(Spot spot) {
      String range = Format.range(List.of(spot.low(), spot.high()), Format::rate);
      return "%s %s: %s %s%s"
          .formatted(
              Format.rate(spot.x()).replaceFirst("\\.0$", ""),
              x.label().replace(" (log scale)", ""),
              Format.rate(spot.y()),
              unit,
              spot.low() < spot.high() ? " (" + range + ")" : "");
    }
  }
}
