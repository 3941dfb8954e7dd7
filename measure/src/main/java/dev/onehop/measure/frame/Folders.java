package dev.onehop.measure.frame;

import dev.onehop.resync.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The folders of servers that a bench starts. */
public final class Folders {

  private Folders() {}

  /**
   * Deletes a folder with its content, if it exists.
   *
   * @throws Failure if a file can't be deleted
   */
  public static void delete(Path folder) {
    if (Files.notExists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      throw Failure.run("cannot delete " + folder + ": " + Failure.firstLine(e), e);
    }
  }
}
