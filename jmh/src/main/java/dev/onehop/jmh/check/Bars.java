package dev.onehop.jmh.check;

import dev.onehop.jmh.check.Side.Iterations;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The content of a file of bars.
 *
 * @param bars the bars, at least one
 * @param moreRounds how often a bar that was not held is run again before it counts as broken
 */
record Bars(List<Bar> bars, int moreRounds) {
  private static final String RESOURCE = "bars.yaml";

  Bars {
    bars = List.copyOf(bars);
  }

  /** The benchmarks' own bars: {@code bars.yaml} beside this class. */
  static Bars own() {
    try (InputStream in =
        Objects.requireNonNull(Bars.class.getResourceAsStream(RESOURCE), RESOURCE)) {
      return parse(RESOURCE, new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The bars in a file.
   *
   * @throws BarsException if it can't be read or is no file of bars
   */
  static Bars read(Path file) {
    try {
      return parse(file.toString(), Files.readString(file));
    } catch (IOException e) {
      throw new BarsException("cannot read " + file + ": " + e, e);
    }
  }

  static Bars parse(String source, String yaml) {
    YamlNode root = YamlNode.parse(source, yaml);
    root.allow("rounds", "more rounds", "warmup", "measurement", "bars");
    int rounds = root.wholeNumber("rounds", 1);
    int moreRounds = root.wholeNumber("more rounds", 0);
    Iterations warmup = iterations(root.child("warmup"), 0);
    Iterations measurement = iterations(root.child("measurement"), 1);
    List<Bar> bars = new ArrayList<>();
    for (YamlNode bar : root.children("bars")) {
      bars.add(bar(bar, rounds, warmup, measurement));
    }
    if (bars.isEmpty()) {
      throw new BarsException(source + " has no bars", null);
    }
    return new Bars(bars, moreRounds);
  }

  /** These bars without those whose name a pattern is not found in. */
  Bars matching(Pattern pattern) {
    return new Bars(
        bars.stream().filter(bar -> pattern.matcher(bar.name()).find()).toList(), moreRounds);
  }

  private static Bar bar(YamlNode bar, int rounds, Iterations warmup, Iterations measurement) {
    bar.allow(
        "name",
        "benchmark",
        "baseline",
        "parameters",
        "baseline parameters",
        "at least",
        "more bytes",
        "rounds",
        "warmup",
        "measurement");
    YamlNode ownWarmup = bar.childOrNull("warmup");
    YamlNode ownMeasurement = bar.childOrNull("measurement");
    Iterations warm = ownWarmup == null ? warmup : iterations(ownWarmup, 0);
    Iterations measure = ownMeasurement == null ? measurement : iterations(ownMeasurement, 1);
    Map<String, String> common = texts(bar.childOrNull("parameters"));
    Map<String, String> baseline = new HashMap<>(common);
    baseline.putAll(texts(bar.childOrNull("baseline parameters")));
    return new Bar(
        bar.text("name"),
        new Side(bar.text("benchmark"), common, warm, measure),
        new Side(bar.text("baseline"), baseline, warm, measure),
        bar.positive("at least"),
        bar.has("more bytes") ? bar.wholeNumber("more bytes", 0) : null,
        bar.has("rounds") ? bar.wholeNumber("rounds", 1) : rounds);
  }

  private static Map<String, String> texts(@Nullable YamlNode node) {
    return node == null ? Map.of() : node.texts();
  }

  private static Iterations iterations(YamlNode node, int atLeast) {
    node.allow("iterations", "milliseconds");
    return new Iterations(
        node.wholeNumber("iterations", atLeast), node.wholeNumber("milliseconds", 1));
  }
}
