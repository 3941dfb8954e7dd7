package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class JmhCommandTest {

  @TempDir private Path home;

  private final StringWriter err = new StringWriter();
  private @Nullable String homeBefore;

  /**
   * Runs in place of the benchmarks: writes its arguments, one per line, and ends with the exit
   * code 7.
   */
  static final class Recorder {
    private Recorder() {}

    public static void main(String[] args) throws IOException {
      Files.write(Path.of(args[0]), List.of(args));
      System.exit(7);
    }
  }

  @BeforeEach
  void setHome() {
    homeBefore = System.getProperty("onehop.home");
    System.setProperty("onehop.home", home.toString());
  }

  @AfterEach
  void resetHome() {
    if (homeBefore == null) {
      System.clearProperty("onehop.home");
    } else {
      System.setProperty("onehop.home", homeBefore);
    }
  }

  private int onehop(String... arguments) {
    CommandLine command = OneHopCommand.commandLine().setErr(new PrintWriter(err));
    return command.execute(arguments);
  }

  private void installBenchmarks() throws IOException {
    Path jar = Files.createDirectories(home.resolve("jmh/target")).resolve("benchmarks.jar");
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Recorder.class.getName());
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file, manifest)) {
      String name = Recorder.class.getName().replace('.', '/') + ".class";
      out.putNextEntry(new JarEntry(name));
      try (InputStream in =
          Objects.requireNonNull(Recorder.class.getClassLoader().getResourceAsStream(name))) {
        in.transferTo(out);
      }
    }
  }

  @Test
  void passesOptionsToJmhAndReturnsItsExitCode() throws Exception {
    installBenchmarks();
    Path record = home.resolve("arguments");
    assertThat(onehop("jmh", record.toString(), "-f", "1", "-p", "chunks=1000", "-foe", "true"))
        .isEqualTo(7);
    assertThat(record).hasContent(record + "\n-f\n1\n-p\nchunks=1000\n-foe\ntrue");
  }

  @Test
  void reportsMissingBenchmarks() {
    assertThat(onehop("jmh", "--check")).isEqualTo(2);
    assertThat(err.toString()).contains("build the benchmarks from the sources");
  }
}
