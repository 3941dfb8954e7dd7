package dev.onehop.testbed.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FormedDataTest {
  @TempDir Path cache;
  @TempDir Path formed;
  @TempDir Path copy;

  @BeforeEach
  void write() throws IOException {
    Files.createDirectories(formed.resolve("s1-a/journal"));
    Files.writeString(formed.resolve("s1-a/journal/log"), "300 MB");
    Files.writeString(formed.resolve("s1-a/mongod.lock"), "1234");
    Files.writeString(formed.resolve("s1-a/collection.wt"), "documents");
  }

  @Test
  void copiesDataOfSameCluster() throws IOException {
    assertThat(data("a").copyTo(copy)).isFalse();
    data("a").keep(formed);

    assertThat(data("a").copyTo(copy)).isTrue();
    try (Stream<Path> files = Files.walk(copy)) {
      assertThat(files.filter(Files::isRegularFile))
          .containsExactly(copy.resolve("s1-a/collection.wt"));
    }
    assertThat(copy.resolve("s1-a/collection.wt")).hasContent("documents");
    assertThat(data("b").copyTo(copy.resolve("b"))).isFalse();
  }

  @Test
  void keepsExistingData() throws IOException {
    data("a").keep(formed);
    Files.writeString(formed.resolve("s1-a/collection.wt"), "others");
    data("a").keep(formed);

    assertThat(data("a").copyTo(copy)).isTrue();
    assertThat(copy.resolve("s1-a/collection.wt")).hasContent("documents");
    assertThat(kept()).hasSize(1);
  }

  @Test
  void followsSymbolicLink(@TempDir Path elsewhere) throws IOException {
    Files.createSymbolicLink(cache.resolve("formed"), elsewhere);
    data("a").keep(formed);

    assertThat(data("a").copyTo(copy)).isTrue();
  }

  @Test
  void failedCopyLeavesNoData() throws IOException {
    data("a").keep(formed);
    Files.createDirectories(copy.resolve("s1-a"));
    Files.writeString(copy.resolve("s1-a/collection.wt"), "in the way");

    assertThat(data("a").copyTo(copy)).isFalse();
    assertThat(copy.resolve("s1-a")).doesNotExist();
  }

  @Test
  void removeDeletesData() throws IOException {
    data("a").keep(formed);
    data("a").remove();
    data("never kept").remove();

    assertThat(data("a").copyTo(copy)).isFalse();
    assertThat(kept()).isEmpty();
  }

  @Test
  void removesLeastRecentlyUsedData() throws IOException {
    for (int i = 0; i < 40; i++) {
      data("old" + i).keep(formed);
    }
    for (Path each : kept()) {
      Files.setLastModifiedTime(each, FileTime.fromMillis(1_000));
    }
    assertThat(data("old7").copyTo(copy)).isTrue();
    data("new").keep(formed);

    assertThat(kept()).hasSize(40);
    assertThat(data("old7").copyTo(copy.resolve("old"))).isTrue();
    assertThat(data("new").copyTo(copy.resolve("new"))).isTrue();
  }

  private FormedData data(String cluster) {
    return new FormedData(cache, List.of("6.0.5", cluster));
  }

  private List<Path> kept() throws IOException {
    try (Stream<Path> all = Files.list(cache.resolve("formed"))) {
      return all.toList();
    }
  }
}
