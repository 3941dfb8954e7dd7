package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The folder of a run's results. */
final class ResultsFolder {

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH-mm-ss");

  private ResultsFolder() {}

  /**
   * An empty folder: results of two runs must not mix.
   *
   * @param out what the user gave; null for a new one under {@code onehop-results}
   * @throws Failure if it is not empty, or can't be written
   */
  static Path create(@Nullable Path out) {
    Path folder =
        out != null
            ? out
            : Path.of("onehop-results", NAME.format(LocalDateTime.now(ZoneId.systemDefault())));
    try {
      Files.createDirectories(folder);
      requireEmpty(folder);
      // Before anything is started: whether results can be written there in the end.
      Files.delete(Files.createTempFile(folder, ".onehop", null));
    } catch (FileAlreadyExistsException e) {
      throw Failure.usage("--out " + folder + " is no folder");
    } catch (IOException e) {
      throw Failure.usage("cannot write to --out " + folder + ": " + Failure.reason(e));
    }
    return folder;
  }

  /**
   * Fails if there is something in a folder, which need not be there yet.
   *
   * @param out what the user gave; null for a new one
   * @throws Failure if it is not empty
   */
  static void requireEmpty(@Nullable Path out) {
    if (out == null || Files.notExists(out)) {
      return;
    }
    try (Stream<Path> content = Files.list(out)) {
      if (content.findAny().isPresent()) {
        throw Failure.usage("--out " + out + " is not empty");
      }
    } catch (NotDirectoryException e) {
      throw Failure.usage("--out " + out + " is no folder");
    } catch (IOException e) {
      throw Failure.usage("cannot read --out " + out + ": " + Failure.reason(e));
    }
  }

  /** A run that found nothing leaves nothing. */
  static void removeIfEmpty(Path folder) {
    try {
      Files.delete(folder);
    } catch (IOException e) {
      // It holds something, or can't be removed: it stays.
    }
  }
}
