package dev.onehop.cli.report;

import dev.onehop.cli.results.TopologyFacts;
import dev.onehop.cli.results.TopologyFacts.HostFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The topology drawn as a map, as SVG: a box per region with its hosts and what runs on them,
 * placed by round trip, and a line with the round trip between every two regions.
 */
final class TopologyMap {

  /** A region's box: where its centre is, which changes while boxes are pushed apart, and size. */
  private static final class Box {
    private final String region;
    private final List<HostFacts> hosts;
    private final double w;
    private final double h;
    private double x;
    private double y;

    Box(String region, List<HostFacts> hosts, double w, double h) {
      this.region = region;
      this.hosts = hosts;
      this.w = w;
      this.h = h;
    }

    void push(boolean sideways, double by) {
      x += sideways ? by : 0;
      y += sideways ? 0 : by;
    }
  }

  private static final double LINE = 17;

  /** Between boxes, so that a line between them is seen and its label fits. */
  private static final double GAP_BESIDE = 62;

  private static final double GAP_BELOW = 34;
  private static final double NARROW_PAGE = 400;

  /** Beyond this many regions only the lines from the client are drawn. */
  private static final int ALL_LINES = 4;

  private final TopologyFacts topology;
  private final boolean wide;

  private TopologyMap(TopologyFacts topology, boolean wide) {
    this.topology = topology;
    this.wide = wide;
  }

  /**
   * The map for a wide or for a narrow page; empty if the results name no hosts.
   *
   * @param wide whether distances run from left to right, else from top to bottom
   */
  static String toSvg(TopologyFacts topology, boolean wide) {
    return topology.hosts().isEmpty() ? "" : new TopologyMap(topology, wide).draw();
  }

  private String draw() {
    List<Box> boxes = boxes();
    separate(boxes);
    double margin = 8;
    double left = boxes.stream().mapToDouble(b -> b.x - b.w / 2).min().orElse(0) - margin;
    double top = boxes.stream().mapToDouble(b -> b.y - b.h / 2).min().orElse(0) - margin;
    double right = boxes.stream().mapToDouble(b -> b.x + b.w / 2).max().orElse(0) + margin;
    double bottom = boxes.stream().mapToDouble(b -> b.y + b.h / 2).max().orElse(0) + margin;
    StringBuilder svg = new StringBuilder();
    svg.append(
        format(
            "<svg class=\"map %s\" viewBox=\"%.0f %.0f %.0f %.0f\" style=\"max-width:%.0fpx\""
                + " role=\"img\" aria-label=\"Map of the topology %s\">%n",
            wide ? "wide" : "narrow",
            left,
            top,
            right - left,
            bottom - top,
            (right - left) * 1.1,
            Html.escape(topology.name())));
    links(svg, boxes);
    boxes.forEach(box -> box(svg, box));
    labels(svg, boxes);
    return svg.append("</svg>\n").toString();
  }

  /** The regions with the client's first, placed by round trip. */
  private List<Box> boxes() {
    List<String> regions = new ArrayList<>();
    topology.hosts().stream()
        .filter(host -> host.name().equals(topology.client()))
        .forEach(host -> regions.add(host.region()));
    topology.hosts().forEach(host -> regions.add(host.region()));
    List<String> ordered = regions.stream().distinct().toList();
    double[][] places = MapLayout.place(ordered, this::roundTripOrZero);
    double farthest = 1e-9;
    for (double[] place : places) {
      farthest = Math.max(farthest, Math.max(Math.abs(place[0]), Math.abs(place[1])));
    }
    List<Box> boxes = new ArrayList<>();
    for (int i = 0; i < ordered.size(); i++) {
      List<HostFacts> hosts = hosts(ordered.get(i));
      int longest = hosts.stream().mapToInt(host -> text(host).length()).max().orElse(0);
      double w = Math.max(90, longest * 6.3 + 20);
      double h = (hosts.size() + 1) * LINE + 14;
      double along = places[i][0] / farthest;
      double across = places[i][1] / farthest;
      Box box = new Box(ordered.get(i), hosts, w, h);
      box.x = wide ? along * 330 : across * 90;
      box.y = wide ? across * 210 : along * 210;
      boxes.add(box);
    }
    return boxes;
  }

  /** Pushes overlapping boxes apart, across the direction in which distances run. */
  private void separate(List<Box> boxes) {
    for (int round = 0; round < 200; round++) {
      boolean moved = false;
      for (int i = 0; i < boxes.size(); i++) {
        for (int j = i + 1; j < boxes.size(); j++) {
          Box a = boxes.get(i);
          Box b = boxes.get(j);
          double dx = (a.w + b.w) / 2 + GAP_BESIDE - Math.abs(a.x - b.x);
          double dy = (a.h + b.h) / 2 + GAP_BELOW - Math.abs(a.y - b.y);
          if (dx > 0.01 && dy > 0.01) {
            boolean fitsBeside = i > 0 && a.w + b.w + GAP_BESIDE <= NARROW_PAGE;
            boolean sideways = wide ? dx < dy : fitsBeside;
            double push = (sideways ? dx : dy) / 2;
            boolean inOrder = sideways ? a.x <= b.x : a.y <= b.y;
            a.push(sideways, inOrder ? -push : push);
            b.push(sideways, inOrder ? push : -push);
            moved = true;
          }
        }
      }
      if (!moved) {
        return;
      }
    }
  }

  private void links(StringBuilder svg, List<Box> boxes) {
    for (Box[] pair : pairs(boxes)) {
      svg.append(
          format(
              "<path class=\"link\" d=\"M%.0f %.0fL%.0f %.0f\"/>%n",
              pair[0].x, pair[0].y, pair[1].x, pair[1].y));
    }
  }

  private void labels(StringBuilder svg, List<Box> boxes) {
    for (Box[] pair : pairs(boxes)) {
      Double millis = roundTrip(pair[0].region, pair[1].region);
      if (millis == null) {
        continue;
      }
      double[] middle = visibleMiddle(pair[0], pair[1]);
      String label = Format.ofMillis(millis) + " ms";
      double w = label.length() * 6.6 + 10;
      svg.append(
          format(
              "<rect class=\"paper\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"18\" rx=\"4\"/>"
                  + "<text class=\"rtt\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
              middle[0] - w / 2, middle[1] - 9, w, middle[0], middle[1] + 4.5, label));
    }
  }

  /** The middle of the part of a line that is not under the two boxes it joins. */
  private static double[] visibleMiddle(Box a, Box b) {
    double dx = b.x - a.x;
    double dy = b.y - a.y;
    double from = edge(a, dx, dy);
    double to = 1 - edge(b, dx, dy);
    double middle = (from + to) / 2;
    return new double[] {a.x + dx * middle, a.y + dy * middle};
  }

  /** How much of a line from a box's centre, as a fraction of (dx, dy), lies inside the box. */
  private static double edge(Box box, double dx, double dy) {
    double byWidth = dx == 0 ? 1 : box.w / 2 / Math.abs(dx);
    double byHeight = dy == 0 ? 1 : box.h / 2 / Math.abs(dy);
    return Math.min(0.5, Math.min(byWidth, byHeight));
  }

  private List<Box[]> pairs(List<Box> boxes) {
    List<Box[]> pairs = new ArrayList<>();
    int from = boxes.size() > ALL_LINES ? 1 : boxes.size();
    for (int i = 0; i < from; i++) {
      for (int j = i + 1; j < boxes.size(); j++) {
        pairs.add(new Box[] {boxes.get(i), boxes.get(j)});
      }
    }
    return pairs;
  }

  private void box(StringBuilder svg, Box box) {
    double x = box.x - box.w / 2;
    double y = box.y - box.h / 2;
    svg.append(
        format(
            "<rect class=\"region\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"8\"/>"
                + "<text class=\"region-name\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
            x, y, box.w, box.h, x + 10, y + 20, Html.escape(box.region)));
    double line = y + 20;
    for (HostFacts host : box.hosts) {
      line += LINE;
      boolean client = host.name().equals(topology.client());
      svg.append(
          format(
              "<text class=\"host%s\" x=\"%.1f\" y=\"%.1f\">%s</text>%n",
              client ? " client" : "", x + 10, line, Html.escape(text(host))));
    }
  }

  private static String text(HostFacts host) {
    return host.name() + ": " + String.join(", ", host.roles());
  }

  private List<HostFacts> hosts(String region) {
    return topology.hosts().stream().filter(host -> host.region().equals(region)).toList();
  }

  private double roundTripOrZero(String a, String b) {
    Double millis = roundTrip(a, b);
    return millis == null ? 0 : millis;
  }

  /** The configured round trip between two regions, by any two of their hosts. */
  private @Nullable Double roundTrip(String a, String b) {
    for (HostFacts from : hosts(a)) {
      for (HostFacts to : hosts(b)) {
        Double millis = topology.configured(from.name(), to.name());
        if (millis != null && !from.name().equals(to.name())) {
          return millis;
        }
      }
    }
    return null;
  }

  private static String format(String format, Object... args) {
    return String.format(Locale.ROOT, format, args);
  }
}
