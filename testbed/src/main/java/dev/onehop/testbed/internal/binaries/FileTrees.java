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

  /** Deletes a folder with all it holds, as far as possible; null is nothing to delete. */
  public static void delete(@Nullable Path tree) {
    if (tree == null) {
      return;
    }
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      // Stays in the cache folder, where it does no harm.
    }
  }
}
