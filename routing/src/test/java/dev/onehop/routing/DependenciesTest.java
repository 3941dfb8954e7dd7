package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The class paths consist of jars with one class and a version. */
class DependenciesTest {
  private static final String CORE = "com.mongodb.MongoClientSettings";
  private static final String SYNC = "com.mongodb.client.MongoClients";
  private static final String REACTIVE = "com.mongodb.reactivestreams.client.MongoClients";

  @TempDir private Path folder;

  private final Map<String, String> classPath = new LinkedHashMap<>();

  private final Map<String, String> names =
      new HashMap<>(
          Map.of(
              CORE,
              "org.mongodb.driver-core",
              SYNC,
              "org.mongodb.driver-sync",
              REACTIVE,
              "org.mongodb.driver-reactivestreams",
              "io.netty.util.Version",
              "io.netty.common",
              "io.netty.buffer.ByteBuf",
              "io.netty.buffer",
              "io.netty.channel.Channel",
              "io.netty.transport",
              "io.netty.handler.ssl.SslHandler",
              "io.netty.handler",
              "reactor.core.publisher.Mono",
              "io.projectreactor.reactor-core",
              "io.micrometer.core.instrument.MeterRegistry",
              "micrometer-core"));

  DependenciesTest() {
    classPath.put(CORE, "5.14.0");
    classPath.put(SYNC, "5.14.0");
    classPath.put("io.netty.util.Version", "4.1.128.Final");
    classPath.put("io.netty.buffer.ByteBuf", "4.1.128.Final");
    classPath.put("io.netty.channel.Channel", "4.1.127.Final");
    classPath.put("io.netty.handler.ssl.SslHandler", "4.1.128.Final");
    classPath.put("reactor.core.publisher.Mono", "3.6.0.RELEASE");
    classPath.put("io.micrometer.core.instrument.MeterRegistry", "1.14.0");
  }

  @Test
  void acceptsOldestVersions() {
    assertThatCode(this::check).doesNotThrowAnyException();
  }

  @Test
  void acceptsOtherVersionOfReactiveClient() {
    classPath.put(REACTIVE, "5.8.1");

    assertThatCode(this::check).doesNotThrowAnyException();
  }

  @Test
  void acceptsJarWithoutVersion() {
    classPath.replaceAll((type, version) -> "");

    assertThatCode(this::check).doesNotThrowAnyException();
  }

  @Test
  void ignoresVersionOfApplicationJar() {
    classPath.replaceAll((type, version) -> "1.0.0");
    names.replaceAll((type, name) -> "com.example.shop");

    assertThatCode(this::check).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          com.mongodb.MongoClientSettings | 5.4.0 | OneHop needs mongodb-driver-core 5.5 or newer, and the class path has 5.4.0: import a newer mongodb-driver-bom
          com.mongodb.client.MongoClients | 5.8.1 | mongodb-driver-core 5.14.0 does not fit mongodb-driver-sync 5.8.1 on the class path: import mongodb-driver-bom to have one version
          io.netty.handler.ssl.SslHandler | 4.2.18.Final | netty-common 4.1.128.Final does not fit netty-handler 4.2.18.Final on the class path: import netty-bom to have one version
          reactor.core.publisher.Mono | 3.5.11.RELEASE | OneHop needs reactor-core 3.6 or newer, and the class path has 3.5.11.RELEASE: import a newer reactor-bom
          io.micrometer.core.instrument.MeterRegistry | 1.9.17 | OneHop needs micrometer-core 1.14 or newer, and the class path has 1.9.17: import a newer micrometer-bom
          io.netty.channel.Channel | | OneHop needs netty-transport 4.1 or newer, and the class path has none
          com.mongodb.client.MongoClients | | OneHop needs a client of the MongoDB driver, and the class path has none: add one of mongodb-driver-reactivestreams, mongodb-driver-sync
          """)
  void reportsMismatchWithRemedy(String type, String version, String message) {
    if (version == null) {
      classPath.remove(type);
    } else {
      classPath.put(type, version);
    }

    assertThatThrownBy(this::check).isInstanceOf(IllegalStateException.class).hasMessage(message);
  }

  private void check() throws IOException {
    URL[] jars = new URL[classPath.size()];
    int i = 0;
    for (Map.Entry<String, String> each : classPath.entrySet()) {
      jars[i++] = jar(each.getKey(), each.getValue()).toUri().toURL();
    }
    try (URLClassLoader loader = new URLClassLoader(jars, null)) {
      Dependencies.checkLibraries(loader);
    }
  }

  private Path jar(String type, String version) throws IOException {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Bundle-SymbolicName", names.get(type));
    if (!version.isEmpty()) {
      manifest.getMainAttributes().putValue("Bundle-Version", version);
    }
    Path jar = folder.resolve(type + ".jar");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file, manifest)) {
      out.putNextEntry(new ZipEntry(type.replace('.', '/') + ".class"));
      out.closeEntry();
    }
    return jar;
  }
}
