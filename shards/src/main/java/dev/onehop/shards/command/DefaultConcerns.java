package dev.onehop.shards.command;

import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
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

  private volatile byte[] encodedReadConcern = {};
  private volatile byte[] encodedWriteConcern = {};

  DefaultConcerns() {
    encode();
  }

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
              encode();
            })
        .doOnError(e -> log.debug("default read and write concern not read: {}", e.toString()))
        .onErrorComplete()
        .then();
  }

  /** The command with the concern that it needs and does not have. */
  OpMsg complete(OpMsg command) {
    String name = command.commandName();
    if (READS.contains(name)) {
      return complete(command, "readConcern", "level", readConcern);
    }
    return WRITES.contains(name) ? complete(command, "writeConcern", "w", writeConcern) : command;
  }

  private static OpMsg complete(
      OpMsg command, String field, String essential, BsonDocument byDefault) {
    BsonValue given = command.body().get(field);
    if (given == null) {
      return command.withFields(new BsonDocument(field, byDefault));
    }
    if (!given.isDocument() || given.asDocument().containsKey(essential)) {
      return command;
    }
    // Such as a time alone: the rest is as by default.
    // No clone: of what a server sent that would be as immutable.
    BsonDocument completed = new BsonDocument();
    completed.putAll(byDefault);
    completed.putAll(given.asDocument());
    BsonDocument body = new BsonDocument();
    command.body().forEach(body::append);
    body.put(field, completed);
    return command.withBody(body);
  }

  /**
   * What a command gets that has no concern of its own, in BSON without a frame.
   *
   * @param command the name of a read or a write
   */
  byte[] encoded(String command) {
    return READS.contains(command) ? encodedReadConcern : encodedWriteConcern;
  }

  private void encode() {
    encodedReadConcern = OneShardForwarding.elements(new BsonDocument("readConcern", readConcern));
    encodedWriteConcern =
        OneShardForwarding.elements(new BsonDocument("writeConcern", writeConcern));
  }
}
