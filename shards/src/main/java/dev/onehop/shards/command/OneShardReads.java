package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.cluster.PartialResults;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** Executes reads and findAndModify at the one shard that owns the data. Thread-safe. */
public final class OneShardReads {
  private final ShardClient client;
  private final Cursors cursors;

  public OneShardReads(ShardClient client, Cursors cursors) {
    this.client = client;
    this.cursors = cursors;
  }

  /**
   * Reads from the shard that a routing table names.
   *
   * @return the shard's reply; {@link dev.onehop.shards.cluster.StaleRoute} if the shard refuses
   *     the command because the table is stale
   */
  public Mono<BsonDocument> run(OpMsg command, RoutingTable table, String shard) {
    boolean partial = PartialResults.areAllowed(command.body());
    return client
        .send(table, shard, command)
        .flatMap(ShardClient::refuseStale)
        .flatMap(
            answer ->
                partial && !ErrorCodes.isOfShardedView(answer.document())
                    ? answer.orFailure().flatMap(ok -> keepCursor(command, shard, ok))
                    : keepCursor(command, shard, answer))
        .onErrorResume(
            failure -> partial && PartialResults.isUnreachable(failure),
            failure -> Mono.just(leftOut(table.namespace())));
  }

  private Mono<BsonDocument> keepCursor(OpMsg command, String shard, Answer answer) {
    return CursorReplies.id(answer.document()) == 0
        ? Mono.just(answer.document())
        : client.shards().shard(shard).map(replicaSet -> cursors.keep(replicaSet, command, answer));
  }

  /** The empty result of a shard that cannot be reached. */
  public static BsonDocument leftOut(String namespace) {
    return CursorReplies.partial(CursorReplies.first(namespace, 0, List.of()));
  }
}
