package dev.onehop.measure.joining;

import com.mongodb.MongoException;
import com.mongodb.client.MongoDatabase;
import dev.onehop.measure.frame.Folders;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.DataFolder;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Member;
import dev.onehop.resync.NewMember;
import dev.onehop.resync.Target;
import dev.onehop.testbed.MongodProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.bson.BsonTimestamp;
import org.bson.Document;

/**
 * A replica set on this machine. It has a primary, and a hidden secondary that is the source of
 * copies.
 */
final class BenchReplicaSet implements AutoCloseable {

  static final String NAME = "resync";

  private static final String IP = "127.61.0.1";
  private static final Duration START = Duration.ofSeconds(60);

  private final Path mongod;
  private final Path folder;
  private final int oplogMebibytes;
  private final Consumer<String> died;
  private final List<MongodProcess> servers = new ArrayList<>();
  private final List<String> hosts = new ArrayList<>();
  private final List<Member> members = new ArrayList<>();
  private int targets;

  /**
   * @param folder the folder of the servers' data; created if it does not exist
   * @param oplogMebibytes the size of each oplog
   * @param died receives a message after the unexpected end of a server
   */
  BenchReplicaSet(Path mongod, Path folder, int oplogMebibytes, Consumer<String> died) {
    this.mongod = mongod;
    this.folder = folder;
    this.oplogMebibytes = oplogMebibytes;
    this.died = died;
  }

  /** Starts the replica set, and waits until both members are ready. */
  void start() throws InterruptedException {
    List<Document> config = new ArrayList<>();
    for (int n = 0; n < 2; n++) {
      String host = MongodProcess.freeAddress(IP);
      Path data = folder.resolve("member" + n);
      MongodProcess server = MongodProcess.start("member" + n, command(host, data), host, data);
      server.onDeath(failure -> died.accept(failure.describe()));
      servers.add(server);
      hosts.add(host);
      members.add(member(host));
      // The second member has no vote, so majority writes continue while it is locked.
      Document member = new Document("_id", n).append("host", host);
      config.add(
          n == 0 ? member : member.append("votes", 0).append("priority", 0).append("hidden", true));
    }
    for (Member member : members) {
      await(member.host() + " to reply", () -> !member.admin("hello").isEmpty());
    }
    primary()
        .admin(
            new Document("replSetInitiate", new Document("_id", NAME).append("members", config)));
    await("a primary", () -> primary().admin("hello").getBoolean("isWritablePrimary"));
    await("the secondary", () -> source().admin("hello").getBoolean("secondary"));
  }

  private List<String> command(String host, Path data) {
    List<String> command = MongodProcess.command(mongod, NAME, host, data, oplogMebibytes);
    // By default, servers keep the files of dropped data for five minutes. A copy would contain
    // these files, too.
    command.addAll(List.of("--setParameter", "minSnapshotHistoryWindowInSeconds=0"));
    command.addAll(List.of("--setParameter", "disableLogicalSessionCacheRefresh=true"));
    return command;
  }

  /** Waits until a condition is true. Errors of servers that are starting do not count. */
  void await(String what, BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + START.toNanos();
    while (true) {
      try {
        if (condition.getAsBoolean()) {
          return;
        }
      } catch (MongoException e) {
        // The server is not ready yet.
      }
      if (System.nanoTime() - end > 0) {
        throw Failure.run("waited " + START.toSeconds() + " s for " + what);
      }
      Thread.sleep(20);
    }
  }

  /** The URL of the replica set. */
  ClusterUrl url() {
    return ClusterUrl.open("mongodb://" + hosts.get(0) + "/admin");
  }

  /** Returns a server of the replica set. It need not be a member yet. */
  Member member(String host) {
    return Member.of(url(), host);
  }

  Member primary() {
    return members.get(0);
  }

  Member source() {
    return members.get(1);
  }

  /** The source's data folder. */
  DataFolder sourceFolder() {
    return new DataFolder(folder.resolve("member1"));
  }

  /** Returns the files of a database's collections and indexes in the source's data folder. */
  Set<Path> filesOf(String name) {
    Set<Path> files = new HashSet<>();
    MongoDatabase database = source().client().getDatabase(name);
    for (String collection : database.listCollectionNames()) {
      Document stats = database.runCommand(new Document("collStats", collection));
      files.add(file(stats.get("wiredTiger", Document.class)));
      for (Object index : stats.get("indexDetails", Document.class).values()) {
        files.add(file((Document) index));
      }
    }
    return files;
  }

  /**
   * Returns the file of a table. Its name is in the {@code uri} of the table's statistics, such as
   * {@code statistics:table:index-3-45}.
   */
  private static Path file(Document statistics) {
    String uri = statistics.getString("uri");
    return Path.of(uri.substring(uri.lastIndexOf(':') + 1) + ".wt");
  }

  /** Whether databases have the same {@code dbHash} on both members and a new member. */
  boolean isEqual(Member made, List<String> databases) {
    List<Member> all = List.of(primary(), source(), made);
    return databases.stream()
        .allMatch(name -> all.stream().map(member -> hash(member, name)).distinct().count() == 1);
  }

  private static String hash(Member member, String database) {
    return member
        .client()
        .getDatabase(database)
        .runCommand(new Document("dbHash", 1))
        .getString("md5");
  }

  /** Returns a free address and folder for another member. */
  Target newTarget() {
    targets++;
    return new Target(MongodProcess.freeAddress(IP), folder.resolve("target" + targets));
  }

  /** Returns the command that starts a new member, in the format of {@code --start}. */
  String startCommand(Target target) {
    // Without the option for a log file, the log goes to standard output.
    return String.join(" ", command(target.host(), folderOf(target)));
  }

  /** Waits until a member has all writes that the primary has now. */
  void awaitCaughtUp(Member member) throws InterruptedException {
    BsonTimestamp goal = primary().lastWrite();
    await(member.host() + " to catch up", () -> member.lastWrite().compareTo(goal) >= 0);
  }

  /** Removes a member from the set, ends its server and deletes its data. */
  void remove(Target target, ProcessHandle process) throws InterruptedException {
    primary()
        .reconfigure(
            members -> members.removeIf(member -> member.getString("host").equals(target.host())));
    NewMember.kill(process);
    await(target.host() + " to end", () -> !process.isAlive());
    Folders.delete(folderOf(target));
  }

  private static Path folderOf(Target target) {
    return Objects.requireNonNull(target.dbpath());
  }

  @Override
  public void close() {
    members.forEach(Member::close);
    servers.forEach(MongodProcess::close);
  }
}
