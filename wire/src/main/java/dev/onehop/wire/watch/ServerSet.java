package dev.onehop.wire.watch;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The servers of one replica set or several mongoses of one cluster, with the state that their
 * monitors report. Implementations MUST be thread-safe.
 */
public interface ServerSet extends AutoCloseable {

  /**
   * A server.
   *
   * @param name the server's address
   * @param maxWireVersion the highest wire version that the server supports
   */
  record Server(ServerAddressName name, int maxWireVersion) {}

  /** Watches servers. Thread-safe. */
  interface Factory {
    /**
     * Starts to watch a replica set, in the format of {@code config.shards}: {@code
     * name/host:port,...}.
     */
    ServerSet watch(String connectionString);
  }

  /**
   * The primary of the replica set; null if none is known, or if the servers are mongoses. Never
   * blocks.
   */
  @Nullable Server primary();

  /**
   * Waits for a server that fits the read preference.
   *
   * @param readPreference in the format of {@code $readPreference}, null for the primary or any
   *     mongos
   * @return the server; a {@link CommandFailure} with the state of each server if none was found in
   *     time
   */
  Mono<Server> select(@Nullable BsonDocument readPreference);

  /** The reason why a server was chosen, by preferred zones; null without preferred zones. */
  default @Nullable String zoneReason(ServerAddressName server) {
    return null;
  }

  /** Stops watching. */
  @Override
  void close();
}
