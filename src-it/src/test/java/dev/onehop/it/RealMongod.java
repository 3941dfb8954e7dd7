package dev.onehop.it;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.cluster.Waiting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A mongod that is a replica set of one member, with authentication or TLS if a test needs them.
 */
public final class RealMongod implements AutoCloseable {
  public static final String ADMIN = "root";
  public static final String PASSWORD = "correct horse";

  private static final Duration START = Duration.ofSeconds(60);

  private final Path folder;
  private final String replicaSet;
  private final int port;
  private final Process process;

  private RealMongod(Path folder, String replicaSet, int port, Process process) {
    this.folder = folder;
    this.replicaSet = replicaSet;
    this.port = port;
    this.process = process;
  }

  /** Starts a server without authentication or TLS. */
  static RealMongod start() {
    return startOpen(List.of());
  }

  /** Starts a server without authentication or TLS that executes {@code configureFailPoint}. */
  public static RealMongod startWithFailPoints() {
    return startOpen(List.of("--setParameter", "enableTestCommands=1"));
  }

  /** Starts a server that can become a shard of a cluster without authentication. */
  static RealMongod startShard(String replicaSet) {
    // As on the testbed's shards, orphans are deleted soon, so that a range can return.
    return startOpen(
        replicaSet, List.of("--shardsvr", "--setParameter", "orphanCleanupDelaySecs=1"));
  }

  /**
   * Starts a server without authentication or TLS, with an oplog that soon overwrites its history.
   *
   * @param megabytes the size of the oplog
   */
  static RealMongod startWithOplog(int megabytes) {
    // The server keeps the oplog since its last storage checkpoint. With this option, it makes such
    // a checkpoint each second, so it can soon overwrite the oplog.
    return startOpen(List.of("--oplogSize", Integer.toString(megabytes), "--syncdelay", "1"));
  }

  private static RealMongod startOpen(List<String> options) {
    return startOpen("it", options);
  }

  private static RealMongod startOpen(String replicaSet, List<String> options) {
    RealMongod mongod = launch(replicaSet, options);
    try (MongoClient client = MongoClients.create(mongod.url())) {
      mongod.initiate(client, false);
    }
    return mongod;
  }

  /** Starts the only voting member of a replica set whose other members do not run. */
  static RealMongod startWithMembersDown(int down) {
    RealMongod mongod = start();
    try (MongoClient client = MongoClients.create(mongod.url())) {
      MongoDatabase admin = client.getDatabase("admin");
      Document set =
          admin.runCommand(new Document("replSetGetConfig", 1)).get("config", Document.class);
      List<Document> members = new ArrayList<>(set.getList("members", Document.class));
      for (int n = 1; n <= down; n++) {
        members.add(
            new Document("_id", n)
                .append("host", "localhost:" + n)
                .append("priority", 0)
                .append("votes", 0));
      }
      set.append("members", members).append("version", set.getInteger("version") + 1);
      admin.runCommand(new Document("replSetReconfig", set).append("force", true));
    }
    return mongod;
  }

  /** Starts a server with authentication and the user {@link #ADMIN}. */
  static RealMongod startWithAuthentication() {
    return startWithAuthentication("it", List.of(), null, List.of("root"));
  }

  /** Starts a server with authentication, and with TLS by a test's certificates. */
  public static RealMongod startWithTls(TestCertificates certificates) {
    return startWithAuthentication("it", tls(certificates), certificates, List.of("root"));
  }

  /**
   * Starts a server of a sharded cluster with authentication. Its administrator also has the role
   * {@code __system}, for commands that only servers send.
   *
   * @param role {@code --configsvr} or {@code --shardsvr}
   */
  public static RealMongod startSecured(
      String replicaSet, String role, @Nullable TestCertificates certificates) {
    List<String> options = new ArrayList<>(certificates == null ? List.of() : tls(certificates));
    options.add(role);
    return startWithAuthentication(replicaSet, options, certificates, List.of("root", "__system"));
  }

  private static List<String> tls(TestCertificates certificates) {
    return List.of(
        "--tlsMode",
        "requireTLS",
        "--tlsCertificateKeyFile",
        certificates.serverPem().toString(),
        "--tlsCAFile",
        certificates.authorityPem().toString(),
        "--tlsAllowConnectionsWithoutCertificates");
  }

  private static RealMongod startWithAuthentication(
      String replicaSet,
      List<String> options,
      @Nullable TestCertificates certificates,
      List<String> roles) {
    try {
      Path keyFile = Files.createTempFile("onehop", ".key");
      Files.writeString(keyFile, "0123456789abcdef");
      Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("rw-------"));
      List<String> all = new ArrayList<>(options);
      all.addAll(List.of("--auth", "--keyFile", keyFile.toString()));
      RealMongod mongod = launch(replicaSet, all);
      MongoClientSettings.Builder settings =
          MongoClientSettings.builder().applyConnectionString(new ConnectionString(mongod.url()));
      if (certificates != null) {
        settings.applyToSslSettings(ssl -> ssl.enabled(true).context(certificates.trusting()));
      }
      try (MongoClient client = MongoClients.create(settings.build())) {
        mongod.initiate(client, options.contains("--configsvr"));
        client
            .getDatabase("admin")
            .runCommand(
                new Document("createUser", ADMIN).append("pwd", PASSWORD).append("roles", roles));
      }
      Files.delete(keyFile);
      return mongod;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RealMongod launch(String replicaSet, List<String> options) {
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
                  replicaSet,
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
      RealMongod started = new RealMongod(folder, replicaSet, port, process);
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
      started.awaitListening();
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void initiate(MongoClient client, boolean config) {
    Document set =
        new Document("_id", replicaSet)
            .append("members", List.of(new Document("_id", 0).append("host", "localhost:" + port)));
    if (config) {
      set.append("configsvr", true);
    }
    client.getDatabase("admin").runCommand(new Document("replSetInitiate", set));
    Waiting.until(
        "mongod to become primary: see " + folder,
        START,
        () ->
            client
                .getDatabase("admin")
                .runCommand(new Document("hello", 1))
                .getBoolean("isWritablePrimary"));
  }

  /**
   * Waits until the server listens. Otherwise the driver's first attempt could fail, and the driver
   * would try again only after half a second.
   */
  private void awaitListening() {
    Waiting.until(
        "mongod to listen: see " + folder,
        START,
        () -> {
          try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
          } catch (IOException e) {
            return false;
          }
        });
  }

  public int port() {
    return port;
  }

  String url() {
    return url(port);
  }

  /** A URL with another port, for example the port of a link in front of a server. */
  static String url(int port) {
    return "mongodb://localhost:" + port + "/?directConnection=true";
  }

  public static MongoCredential administrator() {
    return MongoCredential.createCredential(ADMIN, "admin", PASSWORD.toCharArray());
  }

  @Override
  public void close() {
    // Kills the server: its data is deleted below, and a primary needs seconds to shut down
    // properly.
    process.destroyForcibly();
    try {
      var unused = process.waitFor();
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
