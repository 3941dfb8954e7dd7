package dev.onehop.routing.internal.direct;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.command.BatchTargets;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.shards.command.WriteBatch;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A write command that is split by the owners of its statements. If a statement has no single
 * owner, a mongos executes the statements that are left. The statements keep their session,
 * transaction number and statement ids, so that shards recognise statements that they have
 * executed.
 */
final class OwnersBatch extends WriteBatch {
  private final OneShardCommands commands;
  private boolean doubted;
  private @Nullable BsonDocument ofMongos;

  OwnersBatch(ShardClient shards, OpMsg command, OneShardCommands commands) {
    super(shards, command);
    this.commands = commands;
  }

  @Override
  protected Mono<Void> withOthers(BatchTargets placement) {
    if (!doubted) {
      doubted = true;
      return commands.doubted(placement.table()).flatMap(this::attempt).then();
    }
    return handOver(pending(), "a write to several shards");
  }

  /**
   * Sends the statements to a mongos. The shard may have executed some of them already. The shard
   * recognises these statements by the session's history.
   */
  @Override
  protected Mono<Void> moves(
      RoutingTable table, String shard, BsonDocument refusal, List<Integer> indexes) {
    return handOver(indexes, OneShardCommands.MOVES);
  }

  private Mono<Void> handOver(List<Integer> indexes, String what) {
    Mono<BsonDocument> sent = ofPart(commands.handOver(part(indexes), what), indexes);
    return indexes.size() == statements().size()
        ? sent.doOnNext(reply -> settleAll(reply, indexes)).then()
        : sent.flatMap(reply -> settle(reply, indexes))
            .onErrorResume(failure -> notAnswered(failure, indexes));
  }

  private void settleAll(BsonDocument reply, List<Integer> indexes) {
    ofMongos = reply;
    answered();
    done(indexes);
  }

  @Override
  public BsonDocument reply() {
    return ofMongos == null ? super.reply() : ofMongos;
  }
}
