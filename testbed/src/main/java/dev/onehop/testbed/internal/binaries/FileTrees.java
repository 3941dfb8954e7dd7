package dev.onehop.testbed.internal.binaries;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Temporary folders. */
public final class FileTrees {
  private FileTrees() {}

  /** Deletes a folder with its content as far as possible; null deletes nothing. */
  public static void delete(@Nullable Path tree) {
    if (tree == null) {
      return;
    }
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      // Files that cannot be deleted stay in the cache folder, where they are harmless.
    }
  }
}
