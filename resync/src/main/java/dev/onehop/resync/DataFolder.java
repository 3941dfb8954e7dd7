package dev.onehop.resync;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The data folder of a mongod with WiredTiger: which of its files make the data. */
public final class DataFolder {

  /** Logs of diagnostics, and what a server deletes at its start. */
  private static final Set<String> LEFT_OUT =
      Set.of("diagnostic.data", "_tmp", "rollback", "lost+found");

  private final Path path;

  public DataFolder(Path path) {
    this.path = path;
  }

  Path path() {
    return path;
  }

  /** Whether it has what a data folder has. */
  boolean isData() {
    return Files.isRegularFile(path.resolve("WiredTiger.turtle"));
  }

  /** The data's files with their sizes, by path within the folder. */
  public Map<Path, Long> files() throws IOException {
    Map<Path, Long> files = new LinkedHashMap<>();
    Files.walkFileTree(
        path,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            return LEFT_OUT.contains(name(folder))
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (isData(name(file))) {
              files.put(path.relativize(file), attributes.size());
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            // Unless the source is locked, it may delete a file at any time.
            if (Files.notExists(file)) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
    return files;
  }

  /** The bytes of all these files. */
  long size() throws IOException {
    return files().values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * The bytes of the files that are there while the server is locked: the lock begins another
   * journal file, which has its full size at once.
   */
  long sizeLocked() throws IOException {
    Map<Path, Long> files = files();
    long journal =
        files.keySet().stream()
            .filter(file -> name(file).startsWith("WiredTigerLog."))
            .mapToLong(file -> files.getOrDefault(file, 0L))
            .max()
            .orElse(0);
    return files.values().stream().mapToLong(Long::longValue).sum() + journal;
  }

  private static String name(Path path) {
    return String.valueOf(path.getFileName());
  }

  /**
   * The journal is part of it; its spare files and locks are not. Nor is what may lie beside, such
   * as logs and keys.
   */
  private static boolean isData(String name) {
    return name.endsWith(".wt")
        || name.endsWith(".bson")
        || (name.startsWith("WiredTiger")
            && !name.equals("WiredTiger.lock")
            && !name.startsWith("WiredTigerPreplog")
            && !name.startsWith("WiredTigerTmplog"));
  }
}
