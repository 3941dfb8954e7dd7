package dev.onehop.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.OneHopProperty;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Compares the metadata for editors with the properties, because the metadata are written by hand.
 */
class MetadataTest {
  private static List<String> properties() throws IOException {
    String metadata =
        Files.readString(Path.of("src/main/resources/META-INF/spring-configuration-metadata.json"));
    return Pattern.compile("\"name\": \"(.+)\",")
        .matcher(metadata)
        .results()
        .map((MatchResult property) -> property.group(1))
        .toList();
  }

  @Test
  void hasEveryPropertyOfRouter() throws IOException {
    assertThat(properties())
        .containsAll(Arrays.stream(OneHopProperty.values()).map(RouterProperties::name).toList())
        .contains("onehop.mode", "onehop.pipelining.enabled", "management.endpoint.onehop.access");
  }

  @Test
  void manualDescribesEveryProperty() throws IOException {
    assertThat(properties().stream().filter(name -> name.startsWith("onehop.")))
        .isSubsetOf(
            Pattern.compile("`(onehop\\.[a-z.-]+)`")
                .matcher(Files.readString(Path.of("../../docs/spring-boot.md")))
                .results()
                .map((MatchResult property) -> property.group(1))
                .toList());
  }
}
