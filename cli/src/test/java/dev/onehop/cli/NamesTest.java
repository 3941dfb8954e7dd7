package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.resync.Failure;
import dev.onehop.routing.OneHopProperty;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RoutingMeters;
import dev.onehop.routing.transport.PipeliningMeters;
import dev.onehop.streams.observation.StreamMeters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares docs/names.md with the code. Renaming an entry breaks dashboards, scripts and settings:
 * see docs/upgrading.md. Kinds and tags of meters are compared in src-it, by MeterNames.
 */
class NamesTest {
  private static final Path HOME = Path.of("..");

  /** Properties that OneHop's processes pass to each other. The page does not list them. */
  private static final Set<String> INTERNAL =
      Set.of(
          "onehop.byshard",
          "onehop.burst",
          "onehop.client",
          "onehop.clients",
          "onehop.clock",
          "onehop.columns",
          "onehop.drain",
          "onehop.duration",
          "onehop.error",
          "onehop.home",
          "onehop.instances",
          "onehop.jmh.url",
          "onehop.latencies",
          "onehop.prompts",
          "onehop.start",
          "onehop.terminal",
          "onehop.warmup.least",
          "onehop.windows",
          "onehop.workload");

  private static List<String> found(String pattern, String text) {
    return Pattern.compile(pattern, Pattern.MULTILINE)
        .matcher(text)
        .results()
        .map((MatchResult match) -> match.group(1))
        .toList();
  }

  private static String page() throws IOException {
    return Files.readString(HOME.resolve("docs/names.md"));
  }

  /** The first column of the tables of a section. */
  private static List<String> listed(String section) throws IOException {
    String text = page().split("\n## " + section + "\n", 2)[1].split("\n## ", 2)[0];
    return found("^\\| `?([a-zA-Z0-9.]+)`? \\|", text);
  }

  private static <T> List<String> names(T[] values, Function<T, String> name) {
    return Arrays.stream(values).map(name).toList();
  }

  @Test
  void listsTheMeters() throws IOException {
    assertThat(listed("Meters"))
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(
                    names(RoutingMeters.values(), RoutingMeters::meterName),
                    names(PipeliningMeters.values(), PipeliningMeters::meterName),
                    names(StreamMeters.values(), StreamMeters::meterName))
                .flatMap(List::stream)
                .toList());
    String decisions = found("Values of `decision`: ([^.]+)\\.", page()).get(0);
    assertThat(found("`([a-z-]+)`", decisions))
        .containsExactlyInAnyOrderElementsOf(names(RouteDecision.values(), RouteDecision::tag));
  }

  @Test
  void listsTheProperties() throws IOException {
    assertThat(listed("Properties"))
        .containsAll(names(OneHopProperty.values(), OneHopProperty::key));
  }

  @Test
  void listsTheExitCodes() throws IOException {
    assertThat(listed("Exit codes"))
        .containsExactly(
            "0",
            "" + Failure.RUN,
            "" + Failure.USAGE,
            "" + VerifyCommand.DIFFERENT,
            "" + Failure.INTERRUPTED);
  }

  /** Uses the names and labels that Micrometer writes for Prometheus. */
  @ParameterizedTest
  @ValueSource(strings = {"grafana/onehop.json", "grafana/alerts.yaml", "is-it-working.md"})
  void dashboardsUseExistingNames(String file) throws IOException {
    Map<String, Set<String>> labels = new HashMap<>();
    for (MatchResult meter :
        Pattern.compile("^\\| `(onehop[a-z.]+)` \\| (\\w+) \\|([^|]*)\\|", Pattern.MULTILINE)
            .matcher(page())
            .results()
            .toList()) {
      Set<String> tags = new HashSet<>(found("`([a-z]+)`", meter.group(3)));
      tags.add("instance");
      for (String name : prometheus(meter.group(1), meter.group(2))) {
        labels.put(name, tags);
      }
    }
    String text = Files.readString(HOME.resolve("docs").resolve(file)).replace("\\\"", "\"");

    assertThat(labels.keySet()).containsAll(found("\\b(onehop_[a-z_]+)\\b", text)).isNotEmpty();
    for (MatchResult used :
        Pattern.compile("\\b(onehop_[a-z_]+)\\{([^}]*)\\}").matcher(text).results().toList()) {
      assertThat(labels.get(used.group(1))).containsAll(found("([a-z]+)=", used.group(2)));
    }
    for (MatchResult used :
        Pattern.compile("by \\(([a-z, ]+)\\) \\(\\D*?\\(?(onehop_[a-z_]+)")
            .matcher(text)
            .results()
            .toList()) {
      assertThat(labels.get(used.group(2))).contains(used.group(1).split(", "));
    }
    for (String decision : found("decision=~?\"([a-z|-]+)\"", text)) {
      assertThat(names(RouteDecision.values(), RouteDecision::tag)).contains(decision.split("\\|"));
    }
  }

  private static List<String> prometheus(String meter, String kind) {
    String name = meter.replace('.', '_');
    return switch (kind) {
      case "timer" ->
          Stream.of("count", "sum", "max", "bucket")
              .map(each -> name + "_seconds_" + each)
              .toList();
      case "counter" -> List.of(name + "_total");
      default -> List.of(name, name + "_seconds");
    };
  }

  /** The page lists every name of the code, and no other. */
  @Test
  void listsEachNameInTheCode() throws IOException {
    Set<String> named = new HashSet<>();
    for (String module :
        found("<module>(.+)</module>", Files.readString(HOME.resolve("pom.xml")))) {
      Path sources = HOME.resolve(module).resolve("src/main/java");
      if (Files.isDirectory(sources)) {
        try (Stream<Path> files = Files.walk(sources)) {
          for (Path file : files.filter(Files::isRegularFile).toList()) {
            named.addAll(found("\"(onehop\\.[a-zA-Z.]+)\"", Files.readString(file)));
          }
        }
      }
    }
    assertThat(named).containsAll(INTERNAL);
    named.removeAll(INTERNAL);
    assertThat(new HashSet<>(found("`(onehop\\.[a-zA-Z.]+)`", page())))
        .containsExactlyInAnyOrderElementsOf(named);
  }
}
