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

/** The data folder of a mongod with WiredTiger. Decides which of its files are data. */
public record DataFolder(Path path) {

  /** Diagnostic logs, and folders that a server deletes at its start. */
  private static final Set<String> LEFT_OUT =
      Set.of("diagnostic.data", "_tmp", "rollback", "lost+found");

  /** Whether the folder contains a WiredTiger database. */
  boolean isData() {
    return Files.isRegularFile(path.resolve("WiredTiger.turtle"));
  }

  /** The data files with their sizes in bytes, by path within the folder. */
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
            // A server that is not locked can delete a file at any time.
            if (Files.notExists(file)) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }
        });
    return files;
  }

  /** The size of all data files in bytes. */
  long size() throws IOException {
    return files().values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * The size in bytes of the data files while the server is locked. To lock, the server starts one
   * more journal file, and this file has its full size at once. The size of the largest journal
   * file is therefore added.
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
   * Whether a file is data. Journal files are data. Spare journal files, lock files, and other
   * files in the folder, such as logs and keys, are not data.
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
