package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterDescription;
import dev.onehop.wire.Artifact;
import org.bson.Document;
import org.slf4j.MDC;
import reactor.core.publisher.Mono;

/**
 * A client of the official driver, reactive or synchronous, whichever the application has. Both
 * monitor servers in the same way. If both are there, the reactive client is used, as it needs no
 * thread while an operation waits.
 *
 * <p>Thread-safe.
 */
abstract class DriverClient implements AutoCloseable {
  static final Document PING = new Document("ping", 1);

  private static final String MARK = "onehop";
  private static final boolean REACTIVE = isReactive(DriverClient.class.getClassLoader());

  DriverClient() {}

  /** What the monitors know of the servers now. */
  abstract ClusterDescription description();

  /** An operation, which waits for a server; a cold publisher of the driver's answer. */
  abstract Mono<Document> ping();

  /** Closes the client. May block. */
  @Override
  public abstract void close();

  /**
   * Connects a client that names OneHop in its handshake. The line that the driver logs for each
   * client, with all of its settings, is marked in the {@link MDC}, so that a filter can drop it.
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
