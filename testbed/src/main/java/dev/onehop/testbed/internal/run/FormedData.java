package dev.onehop.testbed.internal.run;

import dev.onehop.testbed.internal.binaries.FileTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers' data right after a cluster was formed, kept in the cache folder. The next start of
 * the same cluster copies this data. The folder gets its name by a rename at the end, so its
 * content is always complete. If the data can't be kept or used, the next start forms the cluster
 * as usual.
 */
public final class FormedData {
  /**
   * Part of the folder's name. Whoever changes the way in which clusters are formed must change
   * this value.
   */
  private static final String FORMAT = "1";

  private static final String PARTIAL = "partial";

  private static final int KEPT = 40;

  private final Path folder;

  /**
   * @param cacheFolder OneHop's cache folder
   * @param cluster all properties of the cluster on which the data depends
   */
  public FormedData(Path cacheFolder, List<String> cluster) {
    String text = FORMAT + "\n" + String.join("\n", cluster);
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      this.folder = cacheFolder.resolve("formed").resolve(HexFormat.of().formatHex(hash, 0, 12));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JVM has SHA-256
    }
  }

  /**
   * Copies the data, if there is any.
   *
   * @param data an empty folder
   * @return whether the data was copied
   */
  public boolean copyTo(Path data) {
    if (!Files.isDirectory(folder)) {
      return false;
    }
    try {
      copy(folder, data);
      Files.setLastModifiedTime(folder, FileTime.from(Instant.now()));
      return true;
    } catch (IOException | UncheckedIOException e) {
      // Another process may have removed the data during the copy.
      FileTrees.delete(data);
      return false;
    }
  }

  /**
   * Keeps data for later starts, and removes the data of clusters that were not used for a long
   * time.
   *
   * @param data the folder of every server; no server may write during the call
   */
  public void keep(Path data) {
    @Nullable Path partial = null;
    try {
      Files.createDirectories(folder.getParent());
      partial = Files.createTempDirectory(folder.getParent(), PARTIAL);
      copy(data, partial);
      Files.move(partial, folder, StandardCopyOption.ATOMIC_MOVE);
      removeOldest();
    } catch (IOException | UncheckedIOException e) {
      // The data is not kept: the disk is full, or another process was faster.
      FileTrees.delete(partial);
    }
  }

  /** Removes the data. The caller does so after servers failed to start with this data. */
  public void remove() {
    remove(folder);
  }

  /**
   * Renames the folder before the deletion, so that no process copies a folder that is partly
   * deleted.
   */
  private static void remove(Path folder) {
    @Nullable Path removed = null;
    try {
      removed = Files.createTempDirectory(folder.getParent(), PARTIAL);
      Files.move(folder, removed, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      // Another process is removing the folder.
    }
    FileTrees.delete(removed);
  }

  private void removeOldest() throws IOException {
    try (Stream<Path> all = Files.list(folder.getParent())) {
      all.sorted(Comparator.comparing(FormedData::used).reversed())
          .skip(KEPT)
          .toList()
          .forEach(FormedData::remove);
    }
  }

  private static FileTime used(Path folder) {
    try {
      return Files.getLastModifiedTime(folder);
    } catch (IOException e) {
      return FileTime.fromMillis(0);
    }
  }

  /**
   * Copies a folder without the journal. The data has the state of a checkpoint and needs no
   * journal, and a journal has 300 MB.
   */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        String name = from.relativize(file).toString();
        Path copy = to.resolve(name);
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else if (!name.contains("/journal/") && !name.endsWith("/mongod.lock")) {
          Files.copy(file, copy);
        }
      }
    }
  }
}
