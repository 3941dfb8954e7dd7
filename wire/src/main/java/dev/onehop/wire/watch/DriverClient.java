package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.connection.ClusterDescription;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/**
 * A client of the official driver, reactive or synchronous, whichever the application has. Both
 * monitor servers in the same way. If both are there, the reactive client is used, as it needs no
 * thread while an operation waits.
 *
 * <p>Implementations are thread-safe.
 */
public interface DriverClient extends AutoCloseable {
  /** What the monitors know of the servers now. */
  ClusterDescription description();

  /** Sends a command; a cold publisher of the reply, or of the driver's exception. */
  Mono<BsonDocument> run(String database, BsonDocument command, ReadPreference preference);

  /** Closes the client. May block. */
  @Override
  void close();

  /** Connects a client that names OneHop in its handshake. */
  static DriverClient connect(MongoClientSettings settings) {
    return DriverArtifact.REACTIVE.isUsable()
        ? new ReactiveDriverClient(settings)
        : new SyncDriverClient(settings);
  }
}
