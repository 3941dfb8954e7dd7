package dev.onehop.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderCopyTest {

  private static final int MEBIBYTE = 1 << 20;

  @TempDir private Path folder;
  private Path source;
  private Path one;
  private Path two;

  @BeforeEach
  void fill() throws Exception {
    source = folder.resolve("source");
    one = Files.createDirectories(folder.resolve("one"));
    two = Files.createDirectories(folder.resolve("two"));
    byte[] random = new byte[3 * MEBIBYTE + 17];
    new Random(1).nextBytes(random);
    write("WiredTiger.turtle", new byte[] {1});
    write("collection-0.wt", random);
    write("journal/WiredTigerLog.01", sparse(5 * MEBIBYTE + 3));
    write("journal/WiredTigerLog.02", new byte[2 * MEBIBYTE + 5]);
    write("app/index/1.wt", new byte[0]);
    write("storage.bson", new byte[] {2, 3});
    write("journal/WiredTigerPreplog.01", random);
    write("mongod.lock", new byte[] {9});
    write("WiredTiger.lock", new byte[] {9});
    write("mongod.log", random);
    write("diagnostic.data/metrics.wt", random);
  }

  private static byte[] sparse(int size) {
    byte[] bytes = new byte[size];
    bytes[0] = 1;
    bytes[size - 1] = 1;
    return bytes;
  }

  private void write(String name, byte[] content) throws Exception {
    Path file = source.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, content);
  }

  private FolderCopy copy() {
    return new FolderCopy(new DataFolder(source), List.of(one, two), null, read -> {});
  }

  @Test
  void copiesOnlyDataIntoEachTarget() throws Exception {
    FolderCopy copy = copy();
    copy.copy();
    copy.verify();

    for (Path target : List.of(one, two)) {
      assertThat(new DataFolder(target).files())
          .isEqualTo(new DataFolder(source).files())
          .hasSize(6);
      try (var files = Files.walk(target)) {
        assertThat(files.filter(Files::isRegularFile)).hasSize(6);
      }
      for (Path file : new DataFolder(source).files().keySet()) {
        assertThat(target.resolve(file)).hasSameBinaryContentAs(source.resolve(file));
      }
    }
    if (!copy.isShared()) {
      // The copy writes only the non-zero part of the journal files.
      assertThat(copy.written()).isEqualTo(1 + 3 * MEBIBYTE + 17 + MEBIBYTE + 3 + 2);
    }
  }

  @Test
  void verifyFindsChangedFile() throws Exception {
    FolderCopy copy = copy();
    copy.copy();
    if (copy.isShared()) {
      return; // The copy shares its blocks with the source, so it cannot differ.
    }
    byte[] bytes = Files.readAllBytes(two.resolve("collection-0.wt"));
    bytes[MEBIBYTE] ^= 1;
    Files.write(two.resolve("collection-0.wt"), bytes);

    assertThatThrownBy(copy::verify)
        .isInstanceOf(Failure.class)
        .hasMessageContaining(two.resolve("collection-0.wt") + " differs");
  }

  @Test
  void limitSlowsCopy() throws Exception {
    long begun = System.nanoTime();
    FolderCopy copy = new FolderCopy(new DataFolder(source), List.of(one), 20.0, read -> {});
    copy.copy();
    if (!copy.isShared()) {
      assertThat(System.nanoTime() - begun).isGreaterThan(500_000_000L);
    }
  }
}
