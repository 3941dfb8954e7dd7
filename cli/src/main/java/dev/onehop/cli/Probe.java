package dev.onehop.cli;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.onehop.resync.Failure;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The result of pings of one server. Immutable.
 *
 * @param address the address of the server, as this machine connects to it
 * @param nanos the shortest round trip of 20 pings, in nanoseconds; 0 if the server does not reply
 * @param failure the reason why the server can't be reached; null if it replies
 */
record Probe(String address, long nanos, @Nullable String failure) {
  private static final int PINGS = 20;

  /**
   * Probes a server without authentication. Blocks.
   *
   * @param settings the settings of the cluster's clients
   */
  static Probe of(String address, MongoClientSettings settings) {
    try (MongoClient client = MongoClients.create(alone(address, settings).build())) {
      MongoDatabase admin = client.getDatabase("admin");
      Document ping = new Document("ping", 1);
      admin.runCommand(ping);
      long least = Long.MAX_VALUE;
      for (int i = 0; i < PINGS; i++) {
        long begun = System.nanoTime();
        admin.runCommand(ping);
        least = Math.min(least, System.nanoTime() - begun);
      }
      return new Probe(address, least, null);
    } catch (MongoException | IllegalArgumentException e) {
      return new Probe(address, 0, Failure.firstLine(e));
    }
  }

  /** The settings of a client that connects to one server, without the user. */
  static MongoClientSettings.Builder alone(String address, MongoClientSettings of) {
    long millis = of.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS);
    return MongoClientSettings.builder()
        .applyConnectionString(
            new ConnectionString("mongodb://" + address + "/?directConnection=true"))
        .applyToClusterSettings(c -> c.serverSelectionTimeout(millis, TimeUnit.MILLISECONDS))
        .applyToSslSettings(tls -> tls.applySettings(of.getSslSettings()))
        .applyToSocketSettings(sockets -> sockets.applySettings(of.getSocketSettings()));
  }

  boolean answers() {
    return failure == null;
  }

  /** Whether the server is up but its certificate is rejected. */
  boolean isRejectedByTls() {
    return failure != null && failure.matches("(?is).*(certif|PKIX|SSL|subject alternative).*");
  }

  @Override
  public String toString() {
    return failure == null
        ? String.format(Locale.ROOT, "%s: %.1f ms", address, nanos / 1e6)
        : failure;
  }
}
