package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * The users of a cluster, stored on its config servers. Creating an existing user changes its
 * password and roles. Thread-safe.
 */
public final class Users {
  private static final int USER_EXISTS = 51003;
  private static final int ROLE_EXISTS = 51002;

  /** The collections of config that routing reads, as documented. */
  private static final List<String> ROUTING =
      List.of("shards", "mongos", "databases", "collections", "chunks");

  private final Admin config;

  /**
   * @param config the config servers; the user of this connection has the right to create users
   */
  public Users(ReplicaSet config) {
    this.config = config.primary();
  }

  /** Creates an administrator with all rights. */
  public void administrator(String name, String password) {
    user(name, password, new BsonArray(List.of(role("root", "admin"))));
  }

  /**
   * Creates a user who may read and write one database, and read the metadata that routing needs.
   * The role for the metadata has the user's name.
   */
  public void application(String name, String password, String database) {
    BsonArray privileges = new BsonArray();
    for (String collection : ROUTING) {
      privileges.add(
          new BsonDocument(
                  "resource",
                  new BsonDocument("db", new BsonString("config"))
                      .append("collection", new BsonString(collection)))
              .append("actions", new BsonArray(List.of(new BsonString("find")))));
    }
    createOrUpdate(
        "Role",
        ROLE_EXISTS,
        name,
        new BsonDocument("privileges", privileges).append("roles", new BsonArray()));
    user(name, password, new BsonArray(List.of(role(name, "admin"), role("readWrite", database))));
  }

  private void user(String name, String password, BsonArray roles) {
    createOrUpdate(
        "User",
        USER_EXISTS,
        name,
        new BsonDocument("pwd", new BsonString(password)).append("roles", roles));
  }

  private void createOrUpdate(String what, int exists, String name, BsonDocument content) {
    try {
      config.run("admin", command("create" + what, name, content));
    } catch (TestbedException e) {
      if (Admin.codeOf(e) != exists) {
        throw e;
      }
      config.run("admin", command("update" + what, name, content));
    }
  }

  private static BsonDocument command(String verb, String name, BsonDocument content) {
    BsonDocument command = new BsonDocument(verb, new BsonString(name));
    command.putAll(content);
    return Cluster.withMajority(command);
  }

  private static BsonDocument role(String name, String database) {
    return new BsonDocument("role", new BsonString(name)).append("db", new BsonString(database));
  }
}
