package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.topology.Host;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;

/** A replica set of the cluster: the config servers, or a shard. Thread-safe. */
public final class ReplicaSet implements AutoCloseable {
  private static final int ALREADY_INITIALIZED = 23;
  private static final Duration ELECTION = Duration.ofSeconds(60);

  private final String name;
  private final List<Server> members;
  private final List<Admin> admins;

  /**
   * @param members at least one member; every member must be listening
   * @param access the credentials for the members
   */
  public ReplicaSet(String name, List<Server> members, Credentials access) {
    this(name, members, member -> Admin.of(member, access));
  }

  private ReplicaSet(String name, List<Server> members, Function<Server, Admin> connection) {
    this.name = name;
    this.members = List.copyOf(members);
    this.admins = members.stream().map(connection).toList();
  }

  /**
   * Returns an existing replica set.
   *
   * @param nameAndHosts {@code name/host:port[,host:port...]}
   * @param connection connects to a member
   */
  static ReplicaSet at(Server.Role role, String nameAndHosts, Function<Server, Admin> connection) {
    int slash = nameAndHosts.indexOf('/');
    String name = nameAndHosts.substring(0, slash);
    List<Server> members = new ArrayList<>();
    for (String member : nameAndHosts.substring(slash + 1).split(",", -1)) {
      int colon = member.lastIndexOf(':');
      String address = member.substring(0, colon);
      int port = Integer.parseInt(member.substring(colon + 1));
      members.add(
          new Server(
              name + "/" + address,
              role,
              name,
              new Host(address, "", address),
              port,
              new InetSocketAddress(address, port)));
    }
    return new ReplicaSet(name, members, connection);
  }

  public String name() {
    return name;
  }

  public List<Server> members() {
    return members;
  }

  /** The connection string for mongos and shards: {@code name/host:port,host:port}. */
  public String connectionString() {
    return name + "/" + members.stream().map(Server::advertised).collect(Collectors.joining(","));
  }

  /**
   * Initiates the replica set with the first member as preferred primary, and waits for a primary.
   */
  public void initiate() {
    BsonArray memberDocuments = new BsonArray();
    for (int i = 0; i < members.size(); i++) {
      memberDocuments.add(
          new BsonDocument("_id", new BsonInt32(i))
              .append("host", new BsonString(members.get(i).advertised()))
              .append("priority", new BsonDouble(i == 0 ? 2 : 1)));
    }
    BsonDocument config =
        new BsonDocument("_id", new BsonString(name)).append("members", memberDocuments);
    if (members.get(0).role() == Server.Role.CONFIG) {
      config.append("configsvr", BsonBoolean.TRUE);
    }
    try {
      admins.get(0).run("admin", new BsonDocument("replSetInitiate", config));
    } catch (TestbedException e) {
      if (Admin.codeOf(e) != ALREADY_INITIALIZED) {
        throw e;
      }
    }
    awaitPrimary();
  }

  /** Waits until the replica set has a primary. Elects the first member if there is none. */
  public void awaitPrimary() {
    Waiting.until(
        "a primary of " + name,
        ELECTION,
        () -> admins.stream().anyMatch(ReplicaSet::isWritablePrimary) || electFirst());
  }

  /**
   * Makes the first member start an election. In a replica set of several members, no member does
   * so by itself in the first ten seconds.
   */
  private boolean electFirst() {
    if (admins.size() > 1 && hello(admins.get(0)).getBoolean("secondary").getValue()) {
      try {
        admins.get(0).run("admin", new BsonDocument("replSetStepUp", new BsonInt32(1)));
        return isWritablePrimary(admins.get(0));
      } catch (TestbedException e) {
        // The election can fail while the other members do not run yet. The replica set elects a
        // primary later in any case.
      }
    }
    return false;
  }

  /**
   * Runs work while all members are locked: they refuse writes, and their files have the state of a
   * checkpoint.
   *
   * @throws TestbedException if a member refuses
   */
  public void withoutWrites(Runnable work) {
    int locked = 0;
    try {
      for (Admin admin : admins) {
        admin.run(
            "admin", new BsonDocument("fsync", new BsonInt32(1)).append("lock", BsonBoolean.TRUE));
        locked++;
      }
      work.run();
    } finally {
      for (Admin admin : admins.subList(0, locked)) {
        admin.run("admin", new BsonDocument("fsyncUnlock", new BsonInt32(1)));
      }
    }
  }

  /** Writes a checkpoint on every member. */
  public void checkpoint() {
    for (Admin admin : admins) {
      admin.run("admin", new BsonDocument("fsync", new BsonInt32(1)));
    }
  }

  /**
   * Sets the cluster's feature compatibility version. Only the config servers' replica set supports
   * this. The caller sets the version before it adds shards, because a shard gets the version when
   * it is added.
   */
  public void setFeatureCompatibilityVersion(String version) {
    primary()
        .run(
            "admin",
            Cluster.withMajority(
                new BsonDocument("setFeatureCompatibilityVersion", new BsonString(version))));
  }

  /** Waits until every member is primary or secondary. */
  public void awaitMembers() {
    Waiting.until(
        "every member of " + name,
        ELECTION,
        () ->
            admins.stream()
                .allMatch(
                    admin -> {
                      BsonDocument hello = hello(admin);
                      return hello.getBoolean("isWritablePrimary").getValue()
                          || hello.getBoolean("secondary").getValue();
                    }));
  }

  /** Returns the primary's connection. Waits for a primary if there is none at present. */
  public Admin primary() {
    if (admins.size() == 1) {
      return admins.get(0);
    }
    int[] index = {-1};
    Waiting.until(
        "a primary of " + name,
        ELECTION,
        () -> {
          for (int i = 0; i < admins.size() && index[0] < 0; i++) {
            index[0] = isWritablePrimary(admins.get(i)) ? i : -1;
          }
          return index[0] >= 0;
        });
    return admins.get(index[0]);
  }

  private static boolean isWritablePrimary(Admin admin) {
    return hello(admin).getBoolean("isWritablePrimary").getValue();
  }

  private static BsonDocument hello(Admin admin) {
    return admin.run("admin", new BsonDocument("hello", new BsonInt32(1)));
  }

  @Override
  public void close() {
    admins.forEach(Admin::close);
  }
}
