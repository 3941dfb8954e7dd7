package dev.onehop.routing.internal.targeted;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterType;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.routing.internal.metrics.Route;
import dev.onehop.routing.internal.metrics.RouteTrace;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.command.SessionCommands;
import dev.onehop.shards.command.StatementLists;
import dev.onehop.shards.command.TransactionPins;
import dev.onehop.shards.command.TransactionTurns;
import dev.onehop.shards.request.CommandTrace;
import dev.onehop.shards.request.ForwardedCommand;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.NoAnswer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.SingleServer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonSerializationException;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Sends a client's commands to mongoses. If one shard owns the data of a command, the command goes
 * to a mongos near this shard, otherwise to the nearest mongos. In the bytes of a message, the
 * router changes only the request id and the flag exhaustAllowed. It also changes a cursor id if
 * another mongos uses the same id. Any mongos returns correct results, so a stale table causes a
 * detour and nothing else.
 *
 * <p>Cursors and transactions stay at the mongos where they began. A command that was certainly not
 * sent goes to another mongos. The driver decides whether to retry a command that may have been
 * sent.
 *
 * <p>Thread-safe.
 */
public final class TargetedRouter implements ExplainedRouter {
  private static final Logger log = LoggerFactory.getLogger(TargetedRouter.class);

  /** The largest number of mongoses that are tried for one command until one has received it. */
  private static final int MOST_TRIES = 10;

  /**
   * Commands that are decoded: the router itself replies to them, or sends them to several servers.
   */
  private static final Set<String> IN_FULL =
      Set.of(
          "hello",
          "ismaster",
          "endsessions",
          "refreshsessions",
          "killsessions",
          "killallsessions",
          "killallsessionsbypattern",
          "killcursors",
          "logout");

  private static final String NO_MONGOS = "the URI leads to no mongos";

  private static final BsonDocument DONE = new BsonDocument("ok", new BsonDouble(1));

  private final Mongoses mongoses;
  private final @Nullable RoutingCatalog catalog;
  private final Connections connections;
  private final WirePool pool;
  private final Mono<Void> affinityReady;
  private final Runnable release;
  private final CursorPins cursors = new CursorPins();
  private final TransactionPins transactions = new TransactionPins();
  private final TransactionTurns turns = new TransactionTurns();
  private final EndedCursors endedCursors;
  private final Planner planner;
  private final Latencies latencies = new Latencies();
  private final UnroutedNotice notice = new UnroutedNotice(log);
  private volatile boolean closed;

  /** A command was not sent. */
  private static final class UnsentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Throwable why;

    UnsentException(Throwable why) {
      super(why.getMessage(), why);
      this.why = why;
    }
  }

  /**
   * @param catalog the routing tables; null to send every command to the nearest mongos
   * @param connections the connections to the mongoses; closed with the router
   * @param affinityReady completes when the mongoses near the shards are known
   * @param release stops the refreshes of mongoses, catalog and affinity; called on close
   */
  TargetedRouter(
      Mongoses mongoses,
      @Nullable RoutingCatalog catalog,
      Connections connections,
      Mono<Void> affinityReady,
      Runnable release) {
    this.mongoses = mongoses;
    this.catalog = catalog;
    this.connections = connections;
    this.pool = connections.onEventLoops();
    this.endedCursors = new EndedCursors(pool, cursors);
    this.planner = new Planner(mongoses, catalog, cursors, transactions);
    // All commands together wait once for the affinity. After RoutingCatalog.MOMENT they continue
    // without the affinity.
    this.affinityReady = affinityReady.timeout(RoutingCatalog.MOMENT, Mono.empty()).cache();
    this.release = release;
    if (catalog != null) {
      mongoses
          .heard()
          .subscribe(done -> {}, failure -> {}, this::noticeIfNotSharded, LateErrors.LOGGED);
    }
  }

  private void noticeIfNotSharded() {
    ClusterType type = mongoses.type();
    if (type == ClusterType.REPLICA_SET || type == ClusterType.STANDALONE) {
      notice.noTable("", new NotShardedException(type));
    }
  }

  Mongoses mongoses() {
    return mongoses;
  }

  CursorPins cursors() {
    return cursors;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public @Nullable ForwardedCommand tryForward(
      ByteBuf frame, ForwardedCommand.Carrier carrier, ForwardedCommand.Outcome outcome) {
    TargetedCommand command;
    try {
      command = TargetedCommand.of(frame);
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      // After null, the caller calls execute, which reports the error.
      return null;
    }
    if (command == null
        || !command.expectsReply()
        || IN_FULL.contains(command.name().toLowerCase(Locale.ROOT))
        || (needsTable(command) && isToBeLoaded(command.namespace()))) {
      return null;
    }
    TransactionTurns.Turn turn = turns.begin(transactionOf(command));
    if (turn == null) {
      return null;
    }
    ForwardedCommand forwarded = null;
    try {
      Route route = routeNow(command);
      forwarded = route == null ? null : forward(command, route, turn, carrier, outcome);
      return forwarded;
    } finally {
      if (forwarded == null) {
        turn.end();
      }
    }
  }

  private ForwardedCommand forward(
      TargetedCommand command,
      Route route,
      TransactionTurns.Turn turn,
      ForwardedCommand.Carrier carrier,
      ForwardedCommand.Outcome outcome) {
    CommandTrace trace =
        outcome.targeting(
            command.name(), command.namespace(), command.isOperation() && !command.isExplain());
    RouteTrace.of(trace).targeted(route);
    BooleanSupplier cancel =
        send(
            command,
            route,
            carrier,
            new MongosCall.Answer() {
              @Override
              public void replied(@Nullable ByteBuf message, boolean ok) {
                turn.end();
                if (message == null) {
                  throw new IllegalStateException("a forwarded command must have a reply");
                }
                outcome.replied(message, ok);
              }

              @Override
              public void unsent(Throwable why) {
                turn.end();
                // The caller releases the frame only after this call, so restore() can still change
                // it.
                command.restore();
                outcome.notDone(false, Mono.empty());
              }

              @Override
              public void failed(Throwable cause) {
                turn.end();
                outcome.failed(cause);
              }
            });
    return new ForwardedCommand(
        command.name(),
        () -> {
          boolean inTime = cancel.getAsBoolean();
          turn.end();
          return inTime;
        });
  }

  /** The route of a command; null if it has to wait, is split or fails. */
  private @Nullable Route routeNow(TargetedCommand command) {
    try {
      RoutePlan plan = planner.plan(command);
      return plan == null ? null : plan.route();
    } catch (CommandFailure | MalformedDocumentException | IndexOutOfBoundsException e) {
      return null;
    }
  }

  /** The session of a command in a transaction; null for any other command. */
  private static @Nullable BsonDocument transactionOf(TargetedCommand command) {
    return command.isInTransaction() ? command.session() : null;
  }

  @Override
  public Mono<BsonDocument> execute(OpMsg command) {
    return Mono.defer(
        () -> {
          String name = command.commandName();
          if (SessionCommands.isOfOwn(name) || SessionCommands.isOfAll(name)) {
            return ofSessions(command);
          }
          return name.equals("killCursors") && command.body().isArray("cursors")
              ? endedCursors.kill(command)
              : run(command);
        });
  }

  private Mono<BsonDocument> run(OpMsg command) {
    return reading(command, read -> turns.inTurn(transactionOf(read), attempt(command, read, 1)));
  }

  private Mono<BsonDocument> attempt(OpMsg whole, TargetedCommand command, int tries) {
    return planned(command)
        .flatMap(
            plan -> {
              Route route = plan.route();
              return route == null
                  ? split(whole, command, plan.parts())
                  : noted(trace -> trace.targeted(route))
                      .then(exchange(command, route))
                      .onErrorResume(
                          UnsentException.class,
                          unsent ->
                              mayGoElsewhere(command) && tries < MOST_TRIES
                                  ? attempt(whole, command, tries + 1)
                                  : Mono.error(unsent.why));
            });
  }

  private boolean mayGoElsewhere(TargetedCommand command) {
    return !closed
        && !command.isGetMore()
        && (!command.isInTransaction() || command.startsTransaction() || command.endsTransaction());
  }

  private Mono<BsonDocument> split(
      OpMsg whole, TargetedCommand command, List<SplitWrite.Part> parts) {
    return new SplitWrite(
            whole,
            whole.documents(StatementLists.field(command.name())),
            command.isOrdered(),
            parts)
        .run(
            failure -> CommandFailure.toReply(failure, false),
            (route, part) -> reading(part, read -> attemptPart(read, route, 1)));
  }

  private Mono<BsonDocument> attemptPart(TargetedCommand part, Route route, int tries) {
    return noted(trace -> trace.targetedPart(route))
        .then(exchange(part, route))
        .onErrorResume(
            UnsentException.class,
            unsent ->
                closed || tries >= MOST_TRIES
                    ? Mono.error(unsent.why)
                    : mongoses
                        .awaited(() -> planner.again(route), part.isRetriedByDriver())
                        .flatMap(other -> attemptPart(part, other, tries + 1)));
  }

  private static Mono<Void> noted(Consumer<RouteTrace> where) {
    return Mono.deferContextual(
        context -> {
          where.accept(RouteTrace.in(context));
          return Mono.empty();
        });
  }

  /** Calls a function with a command in encoded form. */
  private static Mono<BsonDocument> reading(
      OpMsg command, Function<TargetedCommand, Mono<BsonDocument>> use) {
    return Mono.using(
        () -> {
          ByteBuf frame = ByteBufAllocator.DEFAULT.buffer(512);
          command.encode(frame);
          return frame;
        },
        frame -> use.apply(read(frame)),
        ByteBuf::release);
  }

  private static TargetedCommand read(ByteBuf frame) {
    TargetedCommand command;
    try {
      command = TargetedCommand.of(frame);
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      throw new BsonSerializationException(String.valueOf(e.getMessage()));
    }
    if (command == null) {
      throw new CommandFailure(
          ErrorCodes.FAILED_TO_PARSE, "FailedToParse", "the message has unknown flags");
    }
    return command;
  }

  private Mono<BsonDocument> exchange(TargetedCommand command, Route route) {
    return Mono.create(
        sink -> {
          BooleanSupplier cancel =
              send(
                  command,
                  route,
                  carrier(null),
                  new MongosCall.Answer() {
                    @Override
                    public void replied(@Nullable ByteBuf message, boolean ok) {
                      sink.success(
                          message == null ? DONE : OpMsg.decode(message.duplicate()).body());
                    }

                    @Override
                    public void unsent(Throwable why) {
                      sink.error(new UnsentException(why));
                    }

                    @Override
                    public void failed(Throwable cause) {
                      sink.error(cause);
                    }
                  });
          sink.onCancel(
              () -> {
                boolean unused = cancel.getAsBoolean();
              });
        });
  }

  @Override
  public ForwardedCommand.Carrier carrierOn(@Nullable EventLoop loop) {
    return carrier(loop);
  }

  private ForwardedCommand.Carrier carrier(@Nullable EventLoop loop) {
    return (server, message, head, outcome) ->
        pool.exchange(server, loop, message, head, outcome)::cancel;
  }

  private BooleanSupplier send(
      TargetedCommand command,
      Route route,
      ForwardedCommand.Carrier carrier,
      MongosCall.Answer answer) {
    BsonDocument session = transactionOf(command);
    if (session != null) {
      transactions.pin(session, command.transactionNumber(), route.server());
    }
    CursorPins.Pin cursor = command.isGetMore() ? cursors.use(command.cursorId()) : null;
    MongosCall sending = new MongosCall(this, command, route, session, cursor, answer);
    if (cursor != null) {
      command.setCursorId(cursor.id());
    }
    command.forbidExhaust();
    BooleanSupplier cancel = carrier.send(route.server(), command.message(), command, sending);
    if (!command.endsTransaction() || !command.isRecoverable()) {
      return cancel;
    }
    return () -> {
      boolean inTime = cancel.getAsBoolean();
      if (inTime) {
        // The driver repeats a commit or abort that timed out. Without the pin, another mongos can
        // execute it.
        unpin(session, command);
      }
      return inTime;
    };
  }

  /** Removes the pin of a transaction, so that another mongos can end it. */
  void unpin(@Nullable BsonDocument session, TargetedCommand command) {
    transactions.unpin(session, command.transactionNumber());
  }

  /**
   * Records the latency of an executed command. If commands take too long, the routing table is
   * suspected to be stale.
   */
  void served(TargetedCommand command, Route route, long nanos, long now) {
    String shard = route.shard();
    if (shard != null
        && route.decision() == RouteDecision.OWNER
        && !route.routerDown()
        && catalog != null
        && latencies.isSuspicious(command.name(), shard, nanos, now)) {
      catalog.suspect(command.namespace());
    }
  }

  /** The route of a command, after a wait for its table and a mongos. */
  private Mono<RoutePlan> planned(TargetedCommand command) {
    Mono<RoutePlan> plan =
        mongoses.awaited(() -> planner.plan(command), command.isRetriedByDriver());
    return catalog != null && needsTable(command) && isToBeLoaded(command.namespace())
        ? firstTable(catalog, command).then(plan)
        : plan;
  }

  private boolean needsTable(TargetedCommand command) {
    return planner.isRouting() && RoutePlan.needsTable(command);
  }

  /**
   * Whether a command waits for a table to be loaded. After a failed load the command does not
   * wait, and the table is loaded in the background.
   */
  private boolean isToBeLoaded(String namespace) {
    if (catalog == null || catalog.cached(namespace) != null) {
      return false;
    }
    if (!catalog.isMissing(namespace)) {
      return true;
    }
    catalog.loadInBackground(namespace);
    return false;
  }

  private Mono<Void> firstTable(RoutingCatalog tables, TargetedCommand command) {
    String namespace = command.namespace();
    // A command waits for the affinity and then for the table, each for RoutingCatalog.MOMENT at
    // most. If half of maxTimeMS is shorter than both waits together, half of maxTimeMS is the
    // limit.
    Duration most = RoutingCatalog.MOMENT.multipliedBy(2);
    Duration half = Duration.ofMillis(command.maxTimeMillis() / 2);
    Duration wait = half.isZero() || half.compareTo(most) > 0 ? most : half;
    return affinityReady
        .then(tables.soon(namespace))
        .switchIfEmpty(Mono.error(() -> new TimeoutException("the cluster has not replied yet")))
        .timeout(wait, NoAnswer.within(wait))
        .then()
        .onErrorResume(
            failure -> {
              notice.noTable(namespace, failure);
              return Mono.empty();
            });
  }

  private Mono<BsonDocument> ofSessions(OpMsg command) {
    transactions.forget(SessionCommands.ended(command));
    Set<ServerAddressName> servers = connections.servers();
    return servers.isEmpty() && SessionCommands.isOfAll(command.commandName())
        ? run(command)
        : SessionCommands.tell(pool, servers, command);
  }

  @Override
  public boolean isMeasured(String command) {
    return TargetedCommand.OPERATIONS.contains(command);
  }

  /**
   * Also starts a check of the servers if none can be reached. While operations wait for a server,
   * the driver calls this method often.
   */
  @Override
  public @Nullable String outage() {
    String outage = mongoses.outage();
    if (outage != null) {
      mongoses.check();
    }
    return outage;
  }

  @Override
  public Mono<Void> started() {
    return mongoses.heard();
  }

  @Override
  public Mono<RoutingTable> table(String namespace) {
    if (catalog == null) {
      return Mono.error(() -> new UnknownNamespaceException(namespace));
    }
    return affinityReady
        .then(catalog.soon(namespace))
        .switchIfEmpty(Mono.error(() -> new TimeoutException("the cluster has not replied yet")))
        .onErrorMap(
            failure ->
                failure instanceof UnknownNamespaceException
                    ? failure
                    : new UnknownNamespaceException(failure));
  }

  @Override
  public Optional<Duration> tableAge(String namespace) {
    return catalog == null ? Optional.empty() : catalog.age(namespace);
  }

  @Override
  public boolean isRouting() {
    return planner.isRouting();
  }

  @Override
  public void setRouting(boolean on) {
    ClusterType type = mongoses.type();
    if (!on && type != ClusterType.SHARDED && type != ClusterType.UNKNOWN) {
      throw new IllegalStateException(NO_MONGOS);
    }
    planner.setRouting(on);
  }

  @Override
  public Mono<Void> known() {
    return mongoses.heard().then(affinityReady);
  }

  @Override
  public RouterStatus status() {
    Map<String, List<ServerAddress>> shards = new TreeMap<>();
    mongoses
        .affinity()
        .shards()
        .forEach(
            (shard, beside) ->
                shards.put(
                    shard,
                    beside.isBeside()
                        ? beside.routers().stream().map(SingleServer::address).toList()
                        : List.of()));
    ObjectId cluster = mongoses.clusterId();
    return new RouterStatus(
        "targeted",
        isRouting(),
        cluster == null ? null : cluster.toHexString(),
        shards,
        catalog == null ? Map.of() : catalog.ages(),
        missing(shards));
  }

  private List<String> missing(Map<String, List<ServerAddress>> shards) {
    String outage = mongoses.outage();
    if (outage != null) {
      return List.of(outage);
    }
    if (mongoses.type() != ClusterType.SHARDED) {
      return List.of(NO_MONGOS);
    }
    if (shards.isEmpty()) {
      return List.of("the shards are not known yet");
    }
    List<String> without =
        shards.entrySet().stream()
            .filter(each -> each.getValue().isEmpty())
            .map(Map.Entry::getKey)
            .toList();
    return without.isEmpty()
        ? List.of()
        : List.of("no mongos is known beside " + String.join(", ", without));
  }

  @Override
  public Mono<Choice> choice(Target target, BsonDocument readPreference) {
    String shard = target.isSingleShard() ? target.shard() : null;
    RouteDecision decision =
        shard == null ? RouteDecision.SEVERAL_SHARDS : mongoses.decision(shard);
    boolean any = PreferredZones.isOfAnyMember(readPreference);
    ServerAddressName nearest =
        mongoses.hasZones() && (any || decision != RouteDecision.OWNER)
            ? mongoses.nearest(readPreference)
            : null;
    String zone = nearest == null ? null : mongoses.zoneReason(nearest);
    return Mono.just(
        nearest == null || zone == null
            ? new Choice(
                decision, shard == null ? List.of() : mongoses.besideShard(shard), target.reason())
            : new Choice(
                any ? RouteDecision.PREFERRED_ZONE : decision,
                List.of(nearest),
                target.reason() + "; " + zone));
  }

  @Override
  public void close() {
    closed = true;
    release.run();
    mongoses.close();
    connections.close();
  }
}
