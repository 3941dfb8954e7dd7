package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.wire.OpMsg;
import java.time.Duration;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The cluster-wide default read and write concern, which a shard does not apply to what it takes
 * for a direct client: they are added to every command that has none of its own. The read concern
 * matters on secondaries too, which look at a shard version only under an explicit one.
 *
 * <p>Thread-safe.
 */
final class DefaultConcerns {
  private static final Logger log = LoggerFactory.getLogger(DefaultConcerns.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Set<String> READS = Set.of("find", "aggregate", "count", "distinct");
  private static final Set<String> WRITES =
      Set.of("insert", "update", "delete", "findAndModify", "findandmodify");

  private volatile BsonDocument readConcern = new BsonDocument("level", new BsonString("local"));
  // What the server itself defaults to since 5.0, until the cluster was asked.
  private volatile BsonDocument writeConcern = new BsonDocument("w", new BsonString("majority"));

  /** Reads the defaults from the config server; keeps those at hand if it doesn't answer. */
  Mono<Void> refresh(ConfigServer config) {
    return config
        .run("admin", new BsonDocument("getDefaultRWConcern", new BsonInt32(1)))
        .timeout(TIMEOUT)
        .doOnNext(
            reply -> {
              if (reply.containsKey("defaultReadConcern")) {
                readConcern = reply.getDocument("defaultReadConcern").clone();
              }
              if (reply.containsKey("defaultWriteConcern")) {
                writeConcern = reply.getDocument("defaultWriteConcern").clone();
              }
            })
        .doOnError(e -> log.debug("default read and write concern not read: {}", e.toString()))
        .onErrorComplete()
        .then();
  }

  /** Adds to {@code extra} what {@code command} needs and does not have. */
  void complete(OpMsg command, BsonDocument extra) {
    String name = command.commandName();
    if (READS.contains(name) && !command.body().containsKey("readConcern")) {
      extra.append("readConcern", readConcern);
    }
    if (WRITES.contains(name) && !command.body().containsKey("writeConcern")) {
      extra.append("writeConcern", writeConcern);
    }
  }
}
