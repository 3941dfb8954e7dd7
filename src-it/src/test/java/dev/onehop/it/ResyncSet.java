package dev.onehop.it;

import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.onehop.testbed.MongodProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** A replica set of a primary and a hidden secondary, with some data. Tests add further members. */
final class ResyncSet implements AutoCloseable {
  static final String NAME = "rs";

  private static final String IP = "127.61.1.1";
  private static final int MEBIBYTES = 20;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static final String ROOT = "root";
  private static final String ROOT_PASSWORD = "rootsecret";

  /** The user with the roles that the documentation requires. */
  static final String OPERATOR = "operator";

  static final String OPERATOR_PASSWORD = "Zx9/operator:secret";

  private final Path mongod = MongodProcess.find(null, progress -> {});
  private final Path folder;
  private final @Nullable TestCertificates certificates;
  private final String ip;
  private final List<MongodProcess> servers = new ArrayList<>();
  private final List<String> hosts = new ArrayList<>();
  private final Map<String, MongoClient> clients = new HashMap<>();
  private @Nullable MongoCredential credential;

  ResyncSet(Path folder) throws Exception {
    this(folder, null);
  }

  /**
   * @param certificates for TLS and access control; null for neither
   */
  ResyncSet(Path folder, @Nullable TestCertificates certificates) throws Exception {
    this.folder = folder;
    this.certificates = certificates;
    this.ip = certificates == null ? IP : "localhost";
    if (certificates != null) {
      Files.writeString(keyFile(), "0123456789abcdef");
      Files.setPosixFilePermissions(keyFile(), PosixFilePermissions.fromString("rw-------"));
    }
    for (int n = 0; n < 2; n++) {
      String host = free();
      Path data = folder.resolve("member" + n);
      servers.add(MongodProcess.start("member" + n, command(host, data), host, data));
      hosts.add(host);
    }
    for (String host : hosts) {
      // Waits until the server listens.
      admin(host, "hello");
    }
    admin(
        primary(),
        new Document(
            "replSetInitiate",
            new Document("_id", NAME)
                // A shorter interval than the default of two seconds, so that members join sooner.
                .append("settings", new Document("heartbeatIntervalMillis", 500))
                .append(
                    "members",
                    List.of(
                        new Document("_id", 0).append("host", primary()),
                        new Document("_id", 1)
                            .append("host", source())
                            .append("votes", 0)
                            .append("priority", 0)
                            .append("hidden", true)))));
    await()
        .atMost(TIMEOUT)
        .until(
            () ->
                admin(primary(), "hello").getBoolean("isWritablePrimary")
                    && admin(source(), "hello").getBoolean("secondary"));
    if (certificates != null) {
      createUsers();
    }
    fill();
  }

  private Path keyFile() {
    return folder.resolve("key");
  }

  /** Creates users. After the first one, the servers require authentication. */
  private void createUsers() {
    admin(
        primary(),
        new Document("createUser", ROOT)
            .append("pwd", ROOT_PASSWORD)
            .append("roles", List.of("root", "__system")));
    clients.values().forEach(MongoClient::close);
    clients.clear();
    credential = MongoCredential.createCredential(ROOT, "admin", ROOT_PASSWORD.toCharArray());
    admin(
        primary(),
        new Document("createUser", OPERATOR)
            .append("pwd", OPERATOR_PASSWORD)
            .append(
                "roles",
                List.of(
                    "clusterAdmin",
                    "readAnyDatabase",
                    new Document("role", "read").append("db", "local")))
            .append("writeConcern", new Document("w", 2)));
  }

  /** Inserts random bytes, which cannot be compressed, so that the files have the same size. */
  private void fill() {
    MongoCollection<Document> collection =
        clientOf(primary()).getDatabase("app").getCollection("c");
    collection.createIndex(new Document("x", 1));
    Random random = new Random(1);
    for (int n = 0; n < MEBIBYTES; n++) {
      List<Document> batch = new ArrayList<>();
      for (int i = 0; i < 1024; i++) {
        byte[] bytes = new byte[1000];
        random.nextBytes(bytes);
        batch.add(new Document("x", random.nextInt()).append("bytes", bytes));
      }
      collection.insertMany(batch);
    }
  }

  private List<String> command(String host, Path data) {
    List<String> command = MongodProcess.command(mongod, NAME, host, data, 64);
    if (certificates != null) {
      command.addAll(List.of("--keyFile", keyFile().toString(), "--tlsMode", "requireTLS"));
      command.addAll(List.of("--tlsCertificateKeyFile", certificates.serverPem().toString()));
      command.addAll(List.of("--tlsCAFile", certificates.authorityPem().toString()));
      command.add("--tlsAllowConnectionsWithoutCertificates");
    }
    return command;
  }

  String primary() {
    return hosts.get(0);
  }

  String source() {
    return hosts.get(1);
  }

  String url() {
    return certificates == null
        ? "mongodb://" + primary()
        : "mongodb://" + OPERATOR + "@" + primary() + "/?tls=true";
  }

  /** An address at which no server listens. */
  String free() {
    return MongodProcess.freeAddress(ip);
  }

  /** The value of {@code --start}. */
  String start() {
    return String.join(" ", command("{host}:{port}", Path.of("{dbpath}")));
  }

  /** A client of this member only. */
  MongoClient clientOf(String host) {
    return clients.computeIfAbsent(host, this::client);
  }

  private MongoClient client(String host) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyConnectionString(
                new ConnectionString(
                    "mongodb://"
                        + host
                        + "/?directConnection=true&serverSelectionTimeoutMS=20000"));
    if (certificates != null) {
      settings.applyToSslSettings(ssl -> ssl.enabled(true).context(certificates.trusting()));
    }
    if (credential != null) {
      settings.credential(credential);
    }
    return MongoClients.create(settings.build());
  }

  Document admin(String host, String command) {
    return admin(host, new Document(command, 1));
  }

  Document admin(String host, Document command) {
    return clientOf(host).getDatabase("admin").runCommand(command);
  }

  boolean isLocked() {
    return admin(source(), "currentOp").getBoolean("fsyncLock", false);
  }

  Document config() {
    return admin(primary(), "replSetGetConfig").get("config", Document.class);
  }

  List<String> members() {
    return config().getList("members", Document.class).stream()
        .map(member -> member.getString("host"))
        .toList();
  }

  /** A hash over a member's data of the database {@code app}. */
  String hash(String host) {
    return clientOf(host).getDatabase("app").runCommand(new Document("dbHash", 1)).getString("md5");
  }

  /** Writes a document and waits until these members have it. */
  void writeAndAwait(String... members) throws InterruptedException {
    Document document = new Document("x", 7);
    clientOf(primary()).getDatabase("app").getCollection("c").insertOne(document);
    for (String member : members) {
      MongoCollection<Document> there =
          clientOf(member)
              .getDatabase("app")
              .withReadPreference(ReadPreference.nearest())
              .getCollection("c");
      await()
          .atMost(TIMEOUT)
          .until(() -> there.find(new Document("_id", document.get("_id"))).first() != null);
    }
  }

  /** Removes all members except the first two from the replica set, and ends their servers. */
  void removeTargets() throws Exception {
    Document config = config();
    List<Document> members = config.getList("members", Document.class);
    if (members.size() > 2) {
      config
          .append("members", members.subList(0, 2))
          .append("version", config.getInteger("version") + 1)
          .remove("term");
      admin(primary(), new Document("replSetReconfig", config));
    }
    for (ProcessHandle process : targets()) {
      process.destroyForcibly();
      process.onExit().get();
    }
  }

  /** The servers that the tool has started. */
  List<ProcessHandle> targets() {
    return ProcessHandle.allProcesses()
        .filter(
            process ->
                process.info().commandLine().orElse("").contains(folder.resolve("target") + ""))
        .filter(ProcessHandle::isAlive)
        .toList();
  }

  /** A data folder that does not exist yet. */
  Path target(String name) {
    return folder.resolve("target-" + name);
  }

  @Override
  public void close() {
    targets().forEach(ProcessHandle::destroyForcibly);
    clients.values().forEach(MongoClient::close);
    servers.forEach(MongodProcess::close);
  }
}
