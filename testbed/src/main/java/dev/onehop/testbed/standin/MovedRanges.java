package dev.onehop.testbed.standin;

import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import reactor.core.publisher.Mono;

/**
 * Checks reads of the data of an earlier time. A mongos sends such a read to the shards that owned
 * the ranges at that time. This router sends it to the present owners. If a range has moved since
 * that time, its present owner returns no documents of that time. The result would be incomplete,
 * so the read fails, as on a mongos without the history of the range.
 */
final class MovedRanges {
  private static final int STALE_CHUNK_HISTORY = 239;

  private final ConfigServer config;

  MovedRanges(ConfigServer config) {
    this.config = config;
  }

  /**
   * Returns the reply, or an error if the reply may lack documents.
   *
   * @param labels the labels of the error
   */
  Mono<BsonDocument> check(
      OpMsg command, BsonTimestamp time, BsonDocument reply, List<String> labels) {
    if (!(command.body().get(command.commandName()) instanceof BsonString collection)) {
      return Mono.just(reply);
    }
    String namespace = command.database() + "." + collection.getValue();
    return config
        .find("collections", namespace)
        .flatMap(found -> found.isEmpty() ? Mono.just(found) : moved(found.get(0), time))
        .flatMap(
            moved ->
                moved.isEmpty()
                    ? Mono.just(reply)
                    : Mono.error(
                        new CommandFailure(
                            STALE_CHUNK_HISTORY,
                            "StaleChunkHistory",
                            "a range of " + namespace + " has moved since the time of the read",
                            labels)));
  }

  private Mono<List<BsonDocument>> moved(BsonDocument entry, BsonTimestamp time) {
    return config.find(
        "chunks",
        new BsonDocument("uuid", entry.get("uuid"))
            // history.0 is the latest entry of the chunk's history.
            .append("history.0.validAfter", new BsonDocument("$gt", time)));
  }
}
