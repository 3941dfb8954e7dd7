package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The folder of a run's results. */
final class ResultsFolder {

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH-mm-ss");

  private static final Path DEFAULT = Path.of("onehop-results");

  private ResultsFolder() {}

  /**
   * Creates the folder, or checks that it is empty, because a folder must not mix the results of
   * two runs.
   *
   * @param out the user's folder; null for a new one under {@code onehop-results}
   * @throws Failure if the folder is not empty, or can't be written
   */
  static Path create(@Nullable Path out) {
    Path folder =
        out != null ? out : DEFAULT.resolve(NAME.format(LocalDateTime.now(ZoneId.systemDefault())));
    try {
      Files.createDirectories(folder);
      requireEmpty(folder);
      // Checks that results can be written, before any server is started.
      Files.delete(Files.createTempFile(folder, ".onehop", null));
    } catch (FileAlreadyExistsException e) {
      throw Failure.usage("--out " + folder + " is not a folder");
    } catch (IOException e) {
      throw Failure.usage("cannot write to --out " + folder + ": " + Failure.reason(e));
    }
    return folder;
  }

  /**
   * Checks that a folder is empty or does not exist.
   *
   * @param out the user's folder; null for a new one
   * @throws Failure if the folder is not empty
   */
  static void requireEmpty(@Nullable Path out) {
    if (out == null || Files.notExists(out)) {
      return;
    }
    try (Stream<Path> content = Files.list(out)) {
      Refuse.when(
          content.findAny().isPresent(), "--out " + out + " is not empty: name a new folder");
    } catch (NotDirectoryException e) {
      throw Failure.usage("--out " + out + " is not a folder");
    } catch (IOException e) {
      throw Failure.usage("cannot read --out " + out + ": " + Failure.reason(e));
    }
  }

  /** Removes the folder of a run without results, if it contains only empty folders. */
  static void removeIfEmpty(Path folder) {
    try (Stream<Path> folders = Files.walk(folder)) {
      for (Path each :
          folders.sorted(Comparator.reverseOrder()).filter(Files::isDirectory).toList()) {
        Files.delete(each);
      }
      Files.deleteIfExists(DEFAULT); // fails if the folder has results of earlier runs
    } catch (IOException | UncheckedIOException e) {
      // The folder stays if it is not empty or can't be removed.
    }
  }
}
