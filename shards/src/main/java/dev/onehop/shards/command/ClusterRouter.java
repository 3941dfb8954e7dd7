package dev.onehop.shards.command;

import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.shards.request.ForwardedCommand;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.util.HashSet;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Executes clients' commands on a sharded cluster, directly at the shards. Every command carries
 * the version of the routing table. By this version, a shard refuses the command if the shard's
 * ranges have changed since the table was read. The subclass decides which commands run this way.
 *
 * <p>Thread-safe.
 */
public abstract class ClusterRouter implements CommandRouter {
  private final ClusterState cluster;
  private final OneShardForwarding forwarding;
  private final ClusterCheck clusterCheck;
  private final TransactionTurns turns = new TransactionTurns();

  /**
   * @param cluster the cluster; closed with the router
   */
  protected ClusterRouter(ClusterState cluster) {
    this.cluster = cluster;
    this.forwarding = cluster.forwarding();
    this.clusterCheck = cluster.clusterCheck();
  }

  /**
   * Executes a command. This class calls the method after the router has {@linkplain
   * #startedOrSilent started}. Commands on the client's own sessions are executed by this class.
   */
  protected abstract Mono<BsonDocument> run(OpMsg command);

  @Override
  public Mono<Void> started() {
    return clusterCheck.done();
  }

  /** The type and versions of the cluster's servers; null before the start. */
  public @Nullable ClusterFacts facts() {
    return clusterCheck.known();
  }

  @Override
  public @Nullable ForwardedCommand tryForward(
      ByteBuf frame, ForwardedCommand.Carrier carrier, ForwardedCommand.Outcome outcome) {
    return forwarding.tryForward(frame, carrier, outcome);
  }

  @Override
  public ForwardedCommand.Carrier carrierOn(@Nullable EventLoop loop) {
    return forwarding.carrierOn(loop);
  }

  /**
   * @return the reply; the caller converts an error of the Mono by {@link CommandFailure#toReply}
   */
  @Override
  public Mono<BsonDocument> execute(OpMsg given) {
    return Mono.defer(
        () -> {
          OpMsg command = WriteConcernRule.of(given);
          if (SessionCommands.isOfOwn(command.commandName())) {
            return onSessions(command);
          }
          Mono<BsonDocument> answer =
              startedOrSilent()
                  .then(Mono.defer(() -> run(command)))
                  .contextWrite(
                      context -> {
                        DriverRetries driver = cluster.driver();
                        return driver == null ? context : driver.into(context);
                      });
          return turns
              .inTurn(
                  TransactionCommands.isPart(command) ? command.body().get("lsid") : null, answer)
              .map(cluster.clock()::stamped)
              .onErrorMap(failure -> TransactionCommands.labelled(command, failure));
        });
  }

  /**
   * Sends a command on the client's own sessions to every server that has received any command. An
   * unreachable server is not a failure.
   */
  protected Mono<BsonDocument> onSessions(OpMsg command) {
    return endedCursors(command)
        .then(
            Mono.defer(
                () ->
                    SessionCommands.tell(
                        cluster.connections().onEventLoops(),
                        cluster.connections().servers(),
                        command)));
  }

  /** Closes the cursors of the sessions that a command ends. */
  protected final Mono<Void> endedCursors(OpMsg command) {
    Set<BsonValue> ids = new HashSet<>();
    SessionCommands.ended(command).forEach(session -> ids.add(session.get("id")));
    return ids.isEmpty() ? Mono.empty() : cluster.cursors().killOf(ids);
  }

  /** The namespace of the collection that a command is on. */
  public static String namespace(OpMsg command) {
    return command.database() + "." + command.body().getString(command.commandName()).getValue();
  }

  /** Reads the next batch of a cursor. */
  protected final Mono<BsonDocument> getMore(OpMsg command) {
    return cluster.cursors().getMore(command.body());
  }

  /** Closes cursors. */
  protected final Mono<BsonDocument> killCursors(OpMsg command) {
    BsonArray killed = new BsonArray();
    BsonArray notFound = new BsonArray();
    return Flux.fromIterable(command.body().getArray("cursors", new BsonArray()))
        .concatMap(
            (BsonValue id) ->
                cluster
                    .cursors()
                    .kill(id.asNumber().longValue())
                    .doOnNext(
                        found ->
                            (found ? killed : notFound)
                                .add(new BsonInt64(id.asNumber().longValue()))))
        .then(
            Mono.fromCallable(
                () ->
                    new BsonDocument("cursorsKilled", killed)
                        .append("cursorsNotFound", notFound)
                        .append("cursorsAlive", new BsonArray())
                        .append("cursorsUnknown", new BsonArray())
                        .append("ok", new BsonDouble(1))));
  }

  @Override
  public void close() {
    cluster.close();
  }
}
