package dev.onehop.testbed.internal.cluster;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.message.ErrorCodes;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * A connection to one server, without delays, for the testbed's own commands, which are not part of
 * the traffic under test. Thread-safe.
 */
public final class Admin implements AutoCloseable {
  /** The application name in the servers' logs and profiles. */
  public static final String APPLICATION = "onehop-testbed";

  static final BsonDocument MAJORITY =
      new BsonDocument("w", new BsonString("majority"))
          .append("wtimeout", new org.bson.BsonInt32(60_000));

  private final String name;
  private final MongoClient client;

  private Admin(String name, MongoClient client) {
    this.name = name;
    this.client = client;
  }

  /** Connects to a server, bypassing its link. */
  public static Admin of(Server server, Credentials access) {
    return new Admin(server.name(), MongoClients.create(settings(server, access).build()));
  }

  /** Settings for connections to a server, bypassing its link. */
  public static MongoClientSettings.Builder settings(Server server, Credentials access) {
    MongoClientSettings.Builder settings = MongoClientSettings.builder();
    applyTo(settings, server, access);
    return settings;
  }

  /** Changes existing settings to connect to a server, bypassing its link. */
  public static void applyTo(
      MongoClientSettings.Builder settings, Server server, Credentials access) {
    settings
        .applicationName(APPLICATION)
        .applyToClusterSettings(
            cluster ->
                cluster
                    .mode(ClusterConnectionMode.SINGLE)
                    .hosts(
                        List.of(
                            new ServerAddress(
                                server.listenAddress().getHostString(),
                                server.listenAddress().getPort())))
                    .serverSelectionTimeout(10, TimeUnit.SECONDS))
        .applyToConnectionPoolSettings(pool -> pool.maxSize(8))
        .readPreference(ReadPreference.primaryPreferred())
        .retryReads(false)
        .retryWrites(false);
    access.applyTo(settings);
  }

  /** Connects to a cluster's mongoses. */
  public static Admin of(ConnectionString url, Credentials access) {
    return new Admin(
        String.join(",", url.getHosts()), MongoClients.create(settings(url, access).build()));
  }

  /** Connects to one mongos, with the other options of the cluster's URL. */
  public static Admin ofOne(ConnectionString url, Credentials access, String host, int port) {
    ClusterSettings there =
        ClusterSettings.builder()
            .mode(ClusterConnectionMode.SINGLE)
            .hosts(List.of(new ServerAddress(host, port)))
            .serverSelectionTimeout(5, TimeUnit.SECONDS)
            .build();
    MongoClientSettings.Builder settings =
        settings(url, access).applyToClusterSettings(cluster -> cluster.applySettings(there));
    return new Admin(host + ":" + port, MongoClients.create(settings.build()));
  }

  private static MongoClientSettings.Builder settings(ConnectionString url, Credentials access) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder()
            .applyToClusterSettings(cluster -> cluster.serverSelectionTimeout(10, TimeUnit.SECONDS))
            .applyConnectionString(url)
            .applicationName(APPLICATION);
    access.applyTo(settings);
    return settings;
  }

  /** The driver's client, connected to this server only. */
  public MongoClient client() {
    return client;
  }

  /**
   * Runs a command.
   *
   * @throws TestbedException if the server does not reply, or refuses the command; after a refusal,
   *     the message has the server, the command and the reason, and the cause is the {@link
   *     MongoCommandException}
   */
  public BsonDocument run(String database, BsonDocument command) {
    try {
      return client.getDatabase(database).runCommand(command, BsonDocument.class);
    } catch (MongoCommandException e) {
      throw new TestbedException(
          "%s refused %s: %s (%d %s)"
              .formatted(
                  name,
                  command.getFirstKey(),
                  e.getErrorMessage(),
                  e.getErrorCode(),
                  e.getErrorCodeName()),
          e);
    } catch (MongoException e) {
      throw new TestbedException(
          "%s does not reply to %s: %s".formatted(name, command.getFirstKey(), e.getMessage()), e);
    }
  }

  /**
   * Runs a command that some versions of the server do not support.
   *
   * @return whether the server supports it
   * @throws TestbedException as {@link #run}
   */
  boolean runIfKnown(String database, BsonDocument command) {
    try {
      run(database, command);
      return true;
    } catch (TestbedException e) {
      if (codeOf(e) == ErrorCodes.COMMAND_NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }

  /** Returns the server's error code in an exception of {@link #run}, or -1 if there is none. */
  static int codeOf(TestbedException e) {
    return e.getCause() instanceof MongoCommandException refused ? refused.getErrorCode() : -1;
  }

  /** Returns a collection of this server. It is read with majority read concern. */
  public com.mongodb.client.MongoCollection<BsonDocument> collection(
      String database, String collection) {
    return client
        .getDatabase(database)
        .getCollection(collection, BsonDocument.class)
        .withReadConcern(com.mongodb.ReadConcern.MAJORITY);
  }

  @Override
  public void close() {
    client.close();
  }
}
