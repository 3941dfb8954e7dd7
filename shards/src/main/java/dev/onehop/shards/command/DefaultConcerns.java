package dev.onehop.shards.command;

import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.wire.NoAnswer;
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
 * The cluster-wide default read and write concern. A shard does not apply these defaults to a
 * command of a direct client, so they are added to every command without a concern. There is a
 * second reason to add the read concern: a secondary checks the shard version only if the command
 * has an explicit read concern.
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
  // Until the cluster has replied, the default of servers since 5.0 is used.
  private volatile BsonDocument writeConcern = new BsonDocument("w", new BsonString("majority"));

  private volatile byte[] encodedReadConcern = {};
  private volatile byte[] encodedWriteConcern = {};

  DefaultConcerns() {
    encode();
  }

  /** Reads the defaults. If the config server does not reply, the previous defaults stay. */
  Mono<Void> refresh(ConfigServer config) {
    return config
        .run("admin", new BsonDocument("getDefaultRWConcern", new BsonInt32(1)))
        .timeout(TIMEOUT, NoAnswer.within(TIMEOUT))
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
        .doOnError(
            e ->
                log.debug(
                    "the default read concern and write concern were not read:" + " {}",
                    e.toString()))
        .onErrorComplete()
        .then();
  }

  /** Adds the missing concern to a command. */
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
    // The fields are copied into a new document. A clone would be immutable, as a received document
    // is.
    BsonDocument completed = new BsonDocument();
    completed.putAll(byDefault);
    completed.putAll(given.asDocument());
    BsonDocument body = new BsonDocument();
    command.body().forEach(body::append);
    body.put(field, completed);
    return command.withBody(body);
  }

  /**
   * The concern for a command that has none, encoded as a BSON element without a document around
   * it.
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
