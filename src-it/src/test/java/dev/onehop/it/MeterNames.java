package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Compares the meters of a registry with the list of names, docs/names.md. */
final class MeterNames {
  private static final Path PAGE = Path.of("..", "docs", "names.md");
  private static final Pattern ROW =
      Pattern.compile("\\| `([a-z.]+)` \\| (timer|counter|gauge) \\| ([^|]*)\\|.*");

  private MeterNames() {}

  /**
   * Asserts that the list has each meter, with its kind and tags, and that the registry has at
   * least {@code names} of them.
   */
  static void assertListed(MeterRegistry registry, int names) {
    Set<String> found =
        registry.getMeters().stream()
            .map(Meter::getId)
            // The registry adds a gauge for each percentile of a timer.
            .filter(id -> !id.getName().endsWith(".percentile"))
            .map(MeterNames::row)
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(rows()).containsAll(found);
    assertThat(found).hasSizeGreaterThanOrEqualTo(names);
  }

  private static String row(Meter.Id id) {
    return id.getName()
        + " "
        + id.getType().name().toLowerCase(Locale.ROOT)
        + " "
        + id.getTags().stream().map(Tag::getKey).sorted().toList();
  }

  private static Set<String> rows() {
    Set<String> rows = new HashSet<>();
    try {
      for (String line : Files.readAllLines(PAGE)) {
        var row = ROW.matcher(line);
        if (row.matches()) {
          rows.add(
              row.group(1)
                  + " "
                  + row.group(2)
                  + " "
                  + Pattern.compile("`([a-z]+)`")
                      .matcher(row.group(3))
                      .results()
                      .map(tag -> tag.group(1))
                      .sorted()
                      .toList());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rows;
  }
}
