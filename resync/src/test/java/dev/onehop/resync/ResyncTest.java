package dev.onehop.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResyncTest {

  @TempDir private Path folder;

  private Resync run(Path one, Path two) {
    ResyncPlan plan =
        new ResyncPlan(
            ClusterUrl.open("mongodb://a/"),
            ResyncMethod.LOGICAL,
            null,
            null,
            List.of(new Target("b:1", one), new Target("c:1", two)),
            false,
            false,
            false,
            null,
            "mongod",
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            null,
            null);
    return new Resync(plan, Progress.silent(), new Resync.Listener() {});
  }

  @Test
  void createsFoldersOfAllTargets() throws Exception {
    run(folder.resolve("one"), folder.resolve("two")).makeFolders();

    assertThat(folder.resolve("one")).isEmptyDirectory();
    assertThat(folder.resolve("two")).isEmptyDirectory();
  }

  @Test
  void deletesCreatedFolderIfAnotherCannotBeCreated() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");

    assertThatThrownBy(() -> run(folder.resolve("one"), file.resolve("two")).makeFolders())
        .isInstanceOf(IOException.class);

    assertThat(folder.resolve("one")).doesNotExist();
  }
}
