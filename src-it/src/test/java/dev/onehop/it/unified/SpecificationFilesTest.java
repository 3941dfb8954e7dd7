package dev.onehop.it.unified;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.it.clients.Mode;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Checks the files of the specification tests. To read them, it downloads them, so that the
 * integration tests need no network.
 */
class SpecificationFilesTest {
  @Test
  void everyFolderHasTests() {
    assertThat(SpecificationFiles.FOLDERS)
        .allSatisfy(folder -> assertThat(SpecificationFiles.in(folder)).isNotEmpty());
  }

  @Test
  void everyListedTestExists() {
    Set<String> known =
        SpecificationFiles.FOLDERS.stream()
            .flatMap(folder -> SpecificationFiles.in(folder).stream())
            .map(SpecificationTest::id)
            .collect(Collectors.toSet());

    for (Mode mode : Mode.values()) {
      for (String topology : List.of("sharded", "replicaset")) {
        assertThat(known).containsAll(Expectations.of(mode, topology).listed());
      }
    }
  }
}
