package dev.onehop.testbed.internal.binaries;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.binaries.CommandLine.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs a server binary with {@code --version}. This shows whether the binary runs on this machine,
 * and which version it has.
 */
final class BinaryProbe {
  private static final Pattern VERSION =
      Pattern.compile("(?:db|mongos) version v(\\d+\\.\\d+\\.[^\\s]+)");
  private static final Pattern MISSING_LIBRARY =
      Pattern.compile("error while loading shared libraries: (\\S+?):");
  private static final Map<String, String> DEBIAN_PACKAGES =
      Map.of(
          "libcurl.so.4", "libcurl4",
          "libssl.so.3", "libssl3",
          "libcrypto.so.3", "libssl3",
          "libssl.so.1.1", "libssl1.1",
          "libcrypto.so.1.1", "libssl1.1",
          "liblzma.so.5", "liblzma5",
          "libgssapi_krb5.so.2", "libgssapi-krb5-2",
          "libsasl2.so.2", "libsasl2-2");

  private BinaryProbe() {}

  /**
   * Probes a binary.
   *
   * @throws TestbedException if the binary does not run; the message is one line with the reason
   *     and the package to install
   */
  static ServerBinaries.Binary probe(Path binary, String origin) {
    if (!Files.isRegularFile(binary)) {
      throw new TestbedException("%s: there is no file %s".formatted(origin, binary));
    }
    if (!Files.isExecutable(binary)) {
      throw new TestbedException("%s: %s is not executable".formatted(origin, binary));
    }
    Outcome outcome =
        CommandLine.run(List.of(binary.toString(), "--version"), Duration.ofSeconds(20));
    Matcher missing = MISSING_LIBRARY.matcher(outcome.output());
    if (missing.find()) {
      throw new TestbedException(missingLibrary(binary, missing.group(1)));
    }
    Matcher version = VERSION.matcher(outcome.output());
    if (!outcome.succeeded() || !version.find()) {
      throw new TestbedException(
          "%s: %s --version does not print a MongoDB version: %s"
              .formatted(origin, binary, outcome.lastLine()));
    }
    return new ServerBinaries.Binary(binary.toAbsolutePath(), version.group(1), origin);
  }

  private static String missingLibrary(Path binary, String library) {
    String debianPackage = DEBIAN_PACKAGES.get(library);
    String hint =
        debianPackage == null
            ? "install the Debian package that contains it"
            : "install it with: apt-get install " + debianPackage;
    return "%s needs the shared library %s; %s".formatted(binary, library, hint);
  }
}
