package dev.onehop.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.OneHopProperty;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The completion that editors offer is written by hand. */
class MetadataTest {
  @Test
  void hasEveryPropertyOfTheRouter() throws IOException {
    try (InputStream in =
        getClass().getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
      assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
          .contains(
              Arrays.stream(OneHopProperty.values())
                  .map(property -> "\"" + RouterProperties.name(property) + "\"")
                  .toList());
    }
  }
}
