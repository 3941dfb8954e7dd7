package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterDescription;
import dev.onehop.wire.Artifact;
import org.bson.Document;
import org.slf4j.MDC;
import reactor.core.publisher.Mono;

/**
 * A client of the official driver that monitors servers: the reactive or the synchronous client,
 * depending on the class path. Both clients monitor servers in the same way. If the class path has
 * both, the reactive client is used, because its operations wait without a thread.
 *
 * <p>Thread-safe.
 */
abstract class DriverClient implements AutoCloseable {
  static final Document PING = new Document("ping", 1);

  private static final String MARK = "onehop";
  private static final boolean REACTIVE = isReactive(DriverClient.class.getClassLoader());

  DriverClient() {}

  /** The current state of the servers, as the monitors report it. */
  abstract ClusterDescription description();

  /** A cold publisher that runs a ping. The ping waits for a server that the settings select. */
  abstract Mono<Document> ping();

  /** Closes the client. May block. */
  @Override
  public abstract void close();

  /**
   * Connects a client with OneHop's name in its handshake. For each client the driver logs a line
   * with all settings; the {@link MDC} marks this line, so that a filter can drop it.
   */
  static DriverClient connect(MongoClientSettings settings) {
    String before = MDC.get(MARK);
    MDC.put(MARK, "internal");
    try {
      return REACTIVE ? new ReactiveDriverClient(settings) : new SyncDriverClient(settings);
    } finally {
      if (before == null) {
        MDC.remove(MARK);
      } else {
        MDC.put(MARK, before);
      }
    }
  }

  private static boolean isReactive(ClassLoader loader) {
    Artifact client = Artifact.reactiveClient(loader);
    return client.isPresent() && client.fits(Artifact.driverCore(loader));
  }
}
