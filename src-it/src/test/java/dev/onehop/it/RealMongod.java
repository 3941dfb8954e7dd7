package dev.onehop.it;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.internal.binaries.BinaryFinder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** One mongod, a replica set of its own, with authentication or TLS where a test wants them. */
public final class RealMongod implements AutoCloseable {
  public static final String ADMIN = "root";
  public static final String PASSWORD = "correct horse";

  private final Path folder;
  private final int port;
  private final Process process;

  private RealMongod(Path folder, int port, Process process) {
    this.folder = folder;
    this.port = port;
    this.process = process;
  }

  /** Without authentication or TLS. */
  static RealMongod start() {
    RealMongod mongod = launch(List.of());
    try (MongoClient client = MongoClients.create(mongod.url())) {
      mongod.initiate(client);
    }
    return mongod;
  }

  /** With authentication and the user {@link #ADMIN}. */
  static RealMongod startWithAuthentication() {
    return startWithAuthentication(List.of(), null);
  }

  /** With authentication, and TLS by the certificates of a test. */
  public static RealMongod startWithTls(TestCertificates certificates) {
    return startWithAuthentication(
        List.of(
            "--tlsMode",
            "requireTLS",
            "--tlsCertificateKeyFile",
            certificates.serverPem().toString(),
            "--tlsCAFile",
            certificates.authorityPem().toString(),
            "--tlsAllowConnectionsWithoutCertificates"),
        certificates);
  }

  private static RealMongod startWithAuthentication(
      List<String> options, @Nullable TestCertificates certificates) {
    try {
      Path keyFile = Files.createTempFile("onehop", ".key");
      Files.writeString(keyFile, "0123456789abcdef");
      Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("rw-------"));
      List<String> all = new ArrayList<>(options);
      all.addAll(List.of("--auth", "--keyFile", keyFile.toString()));
      RealMongod mongod = launch(all);
      MongoClientSettings.Builder settings =
          MongoClientSettings.builder().applyConnectionString(new ConnectionString(mongod.url()));
      if (certificates != null) {
        settings.applyToSslSettings(ssl -> ssl.enabled(true).context(certificates.trusting()));
      }
      try (MongoClient client = MongoClients.create(settings.build())) {
        mongod.initiate(client);
        client
            .getDatabase("admin")
            .runCommand(
                new Document("createUser", ADMIN)
                    .append("pwd", PASSWORD)
                    .append("roles", List.of("root")));
      }
      Files.delete(keyFile);
      return mongod;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RealMongod launch(List<String> options) {
    try {
      Path mongod =
          new BinaryFinder(
                  BinaryFinder.cacheFolder(System.getenv()), System.getenv(), progress -> {})
              .find(null, null)
              .mongod()
              .path();
      Path folder = Files.createTempDirectory("onehop-mongod");
      int port;
      try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = free.getLocalPort();
      }
      List<String> command =
          new ArrayList<>(
              List.of(
                  mongod.toString(),
                  "--dbpath",
                  folder.toString(),
                  "--port",
                  Integer.toString(port),
                  "--bind_ip",
                  "127.0.0.1",
                  "--replSet",
                  "it",
                  "--wiredTigerCacheSizeGB",
                  "0.25",
                  "--logpath",
                  folder.resolve("log").toString()));
      command.addAll(options);
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      RealMongod started = new RealMongod(folder, port, process);
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void initiate(MongoClient client) {
    client
        .getDatabase("admin")
        .runCommand(
            new Document(
                "replSetInitiate",
                new Document("_id", "it")
                    .append(
                        "members",
                        List.of(new Document("_id", 0).append("host", "localhost:" + port)))));
    for (int n = 0; n < 300; n++) {
      Document hello = client.getDatabase("admin").runCommand(new Document("hello", 1));
      if (hello.getBoolean("isWritablePrimary")) {
        return;
      }
      try {
        Thread.sleep(100);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
    throw new IllegalStateException("mongod did not become primary: see " + folder);
  }

  public int port() {
    return port;
  }

  String url() {
    return url(port);
  }

  /** This server through another port, such as that of a link in front of it. */
  static String url(int port) {
    return "mongodb://localhost:" + port + "/?directConnection=true";
  }

  /** The administrator's credential. */
  public static MongoCredential administrator() {
    return MongoCredential.createCredential(ADMIN, "admin", PASSWORD.toCharArray());
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
