package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.watch.PreferredZones;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** docs/settings.md lists the settings with the names, defaults and formats of the code. */
class SettingsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "settings.md");
  private static final String BEGIN = "<!-- settings -->\n";
  private static final String END = "<!-- end -->\n";

  private static final Map<OneHopProperty, String> EFFECTS =
      new EnumMap<>(
          Map.of(
              OneHopProperty.ENABLED,
              "`false`: the application gets the driver's own clients, in every mode",
              OneHopProperty.REFRESH_INTERVAL,
              "how often tables and mongoses are read again",
              OneHopProperty.HISTORY_INTERVAL,
              "how often the end of `config.changelog` is read",
              OneHopProperty.MEASURE_ROUND_TRIPS,
              "whether round trips are measured to find near mongoses that host names don't show",
              OneHopProperty.SHARD_ROUTERS,
              "the near mongoses of each shard, by hand",
              OneHopProperty.HOST_MAPPING,
              "server names in the metadata, and the names to use instead",
              OneHopProperty.PREFERRED_ZONES,
              "the zones that operations prefer: [zones](zones.md)"));

  private static String table() {
    StringBuilder table =
        new StringBuilder("| Setting | Default | Value | Effect |\n| --- | --- | --- | --- |\n");
    for (Setting<?> setting : Setting.ALL) {
      table.append(
          "| `%s` | %s | %s | %s |%n"
              .formatted(
                  setting.property().key(),
                  standard(setting.standard()),
                  setting.expected().replace("|", "\\|"),
                  EFFECTS.get(setting.property())));
    }
    return table.toString();
  }

  private static String standard(Object value) {
    if (value instanceof Duration duration) {
      return duration.toSeconds() + "s";
    }
    return value.equals(Map.of())
            || value.equals(Optional.empty())
            || value.equals(PreferredZones.NONE)
        ? "none"
        : value.toString();
  }

  @Test
  void theTableIsCurrent() throws IOException {
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    int end = page.indexOf(END);
    assertThat(page.substring(begin, end)).isEqualTo(table());
    assertThat(EFFECTS).containsOnlyKeys(OneHopProperty.values());
  }
}
