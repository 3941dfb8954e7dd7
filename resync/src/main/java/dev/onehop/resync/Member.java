package dev.onehop.resync;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterConnectionMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.bson.BsonTimestamp;
import org.bson.Document;

/**
 * A server of a replica set. Thread-safe.
 *
 * @param host the member's name and port, as in the set's configuration
 * @param client a client with connections to this server only
 */
public record Member(String host, MongoClient client) implements AutoCloseable {

  private static final int CONNECT_SECONDS = 5;
  private static final BsonTimestamp NONE = new BsonTimestamp(0);

  /**
   * A member with connections to this server only. The connections are opened in the background, so
   * the member does not have to be up yet.
   *
   * @param url the user and the trusted authority
   */
  public static Member of(ClusterUrl url, String host) {
    return of(url, host, true);
  }

  /**
   * A member with connections without a user, for servers that have no users yet, and for commands
   * that need no user.
   */
  static Member stranger(ClusterUrl url, String host) {
    return of(url, host, false);
  }

  private static Member of(ClusterUrl url, String host, boolean withUser) {
    ConnectionString given = new ConnectionString(url.secret());
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applicationName("onehop resync")
            .retryReads(false)
            .retryWrites(false)
            .applyToClusterSettings(
                cluster ->
                    cluster
                        .hosts(List.of(new ServerAddress(host)))
                        .mode(ClusterConnectionMode.SINGLE)
                        .serverSelectionTimeout(CONNECT_SECONDS, TimeUnit.SECONDS))
            .applyToSocketSettings(
                socket -> socket.connectTimeout(CONNECT_SECONDS, TimeUnit.SECONDS))
            .applyToSslSettings(ssl -> ssl.applyConnectionString(given));
    url.trust(settings);
    MongoCredential credential = given.getCredential();
    if (withUser && credential != null) {
      settings.credential(credential);
    }
    return new Member(host, MongoClients.create(settings.build()));
  }

  /**
   * Runs a command on the database {@code admin}.
   *
   * @throws MongoException if the command fails
   */
  public Document admin(Document command) {
    return client.getDatabase("admin").runCommand(command);
  }

  /**
   * Runs a command without arguments on the database {@code admin}.
   *
   * @throws MongoException if the command fails
   */
  public Document admin(String command) {
    return admin(new Document(command, 1));
  }

  /**
   * Runs a command without arguments on the database {@code admin}; a failure ends the run.
   *
   * @throws Failure if the command fails
   */
  Document require(String command) {
    return require(new Document(command, 1));
  }

  /**
   * Runs a command on the database {@code admin}; a failure ends the run.
   *
   * @throws Failure if the command fails
   */
  Document require(Document command) {
    try {
      return admin(command);
    } catch (MongoException e) {
      String name = command.keySet().iterator().next();
      throw Failure.run(host + ": " + name + ": " + Failure.firstLine(e), e);
    }
  }

  /**
   * Changes the members in the set's configuration. This member must be the primary.
   *
   * @param change changes the list of the configuration's members
   * @throws Failure if the configuration can't be read
   * @throws MongoException if the change fails
   */
  public void reconfigure(Consumer<List<Document>> change) {
    Document config = require("replSetGetConfig").get("config", Document.class);
    List<Document> members = new ArrayList<>(config.getList("members", Document.class));
    change.accept(members);
    config.append("members", members).append("version", config.getInteger("version") + 1);
    config.remove("term"); // The primary sets the term.
    admin(new Document("replSetReconfig", config));
  }

  /** A number in a reply; 0 if the reply does not have it. */
  static long number(Document reply, String field) {
    return reply.get(field) instanceof Number number ? number.longValue() : 0;
  }

  /** The time of the member's last write; zero if the server does not report it. */
  public BsonTimestamp lastWrite() {
    return lastWrite(admin("hello"));
  }

  public static BsonTimestamp lastWrite(Document hello) {
    Document write = hello.get("lastWrite", Document.class);
    Document time = write == null ? null : write.get("opTime", Document.class);
    return time == null ? NONE : time.get("ts", BsonTimestamp.class);
  }

  @Override
  public void close() {
    client.close();
  }
}
