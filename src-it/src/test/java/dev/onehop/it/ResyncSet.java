package dev.onehop.it;

import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.onehop.testbed.MongodProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.bson.Document;

/** A replica set with a hidden secondary, some data, and places for further members. */
final class ResyncSet implements AutoCloseable {
  static final String NAME = "rs";

  private static final String IP = "127.61.1.1";
  private static final int MEBIBYTES = 20;

  private final Path mongod = MongodProcess.find(null, progress -> {});
  private final Path folder;
  private final List<MongodProcess> servers = new ArrayList<>();
  private final List<String> hosts = new ArrayList<>();
  private final Map<String, MongoClient> clients = new HashMap<>();

  ResyncSet(Path folder) throws Exception {
    this.folder = folder;
    for (int n = 0; n < 2; n++) {
      String host = MongodProcess.freeAddress(IP);
      Path data = folder.resolve("member" + n);
      servers.add(MongodProcess.start("member" + n, command(host, data), host, data));
      hosts.add(host);
    }
    for (String host : hosts) {
      // Which waits until it listens.
      admin(host, "hello");
    }
    admin(
        primary(),
        new Document(
            "replSetInitiate",
            new Document("_id", NAME)
                // Members join sooner than with the usual two seconds.
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
    while (!admin(primary(), "hello").getBoolean("isWritablePrimary")
        || !admin(source(), "hello").getBoolean("secondary")) {
      Thread.sleep(50);
    }
    fill();
  }

  /** Random bytes, so that they are as many in the files. */
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
    return MongodProcess.command(mongod, NAME, host, data, 64);
  }

  String primary() {
    return hosts.get(0);
  }

  String source() {
    return hosts.get(1);
  }

  String url() {
    return "mongodb://" + primary();
  }

  /** An address where nobody listens. */
  String free() {
    return MongodProcess.freeAddress(IP);
  }

  /** {@code --start} for a target. */
  String start() {
    return String.join(" ", command("{host}:{port}", Path.of("{dbpath}")));
  }

  /** A client of a member alone. */
  MongoClient clientOf(String host) {
    return clients.computeIfAbsent(
        host,
        name ->
            MongoClients.create(
                "mongodb://" + name + "/?directConnection=true&serverSelectionTimeoutMS=20000"));
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

  /** A member's hash over all that applications have written. */
  String hash(String host) {
    return clientOf(host).getDatabase("app").runCommand(new Document("dbHash", 1)).getString("md5");
  }

  /** Writes a document and waits until members have it. */
  void writeAndAwait(String... members) throws InterruptedException {
    Document document = new Document("x", 7);
    clientOf(primary()).getDatabase("app").getCollection("c").insertOne(document);
    for (String member : members) {
      MongoCollection<Document> there =
          clientOf(member)
              .getDatabase("app")
              .withReadPreference(ReadPreference.nearest())
              .getCollection("c");
      while (there.find(new Document("_id", document.get("_id"))).first() == null) {
        Thread.sleep(50);
      }
    }
  }

  /** Takes all members out of the set but the first two, and ends their servers. */
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

  /** A data folder that is not there. */
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
