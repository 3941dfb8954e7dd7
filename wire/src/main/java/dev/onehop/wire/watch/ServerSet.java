package dev.onehop.wire.watch;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The servers of one replica set, or several mongoses of one cluster, and what is known of them
 * from watching them. Implementations MUST be thread-safe.
 */
public interface ServerSet extends AutoCloseable {

  /**
   * A server.
   *
   * @param name where it is
   * @param maxWireVersion the highest wire version that it speaks
   */
  record Server(ServerAddressName name, int maxWireVersion) {}

  /** Watches servers. Thread-safe. */
  interface Factory {
    /** Starts to watch the replica set {@code name/host:port,...} of {@code config.shards}. */
    ServerSet watch(String connectionString);
  }

  /** The primary, or a mongos; null if there is none that one knows of. Never blocks. */
  @Nullable Server primary();

  /**
   * Waits for a server that fits.
   *
   * @param readPreference as in {@code $readPreference}, null for the primary or any mongos
   * @return the server; a {@link CommandFailure} that says what is known of each if none was found
   *     in time
   */
  Mono<Server> select(@Nullable BsonDocument readPreference);

  /** Why a server was chosen, where preferred zones decide; null where there are none. */
  default @Nullable String zoneReason(ServerAddressName server) {
    return null;
  }

  /** Stops watching. */
  @Override
  void close();
}
