package dev.onehop.shards.command;

import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.cluster.Privileges;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.Retryability;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.shards.cluster.StaleRoutes;
import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.NoAnswer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.ServerRefusedException;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.watch.ServerSet;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Checks before the first command whether direct mode can use the cluster. The check fails if the
 * servers are neither mongoses nor config servers. It also fails if the user does not exist on a
 * shard, lacks the right to read the routing metadata, or lacks the role that shards of 8.0
 * require.
 *
 * <p>The check runs once, and again with the next command after a failure. A shard that does not
 * reply at the start delays no command for another shard: it is checked before its first command.
 */
public final class ClusterCheck {
  private static final Logger log = LoggerFactory.getLogger(ClusterCheck.class);

  /**
   * The time for which the result of a successful check is kept: without limit. For a shorter time,
   * Reactor would start a timer, and the timer would keep a reference to this client.
   */
  private static final Duration FOR_GOOD = Duration.ofMillis(Long.MAX_VALUE);

  private static final Duration FAILURE_KEPT = Duration.ofSeconds(1);

  // The limit of the whole check, because a silent seed must not block commands for ever. The
  // driver's server selection timeout has the same length.
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** The time after which a silent shard is logged. */
  private static final Duration SHARD_TIMEOUT = Duration.ofSeconds(5);

  /**
   * At the start, the check waits this long for the replies of all shards, to find the oldest
   * server version.
   */
  private static final Duration ALL_SHARDS = Duration.ofMillis(250);

  /**
   * The longest wait of a command for the check if no seed has replied. The driver waits equally
   * long for a connection. If a seed has replied, a command waits only {@link
   * RoutingCatalog#MOMENT} for the rest of the check.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final int WIRE_VERSION_8_0 = 25;
  private static final String SCRIPT = "the script docker/direct-users.js creates such a user";

  // The number of attempts and the pauses are the same as for a retryable command during the
  // election of a new primary.
  private static final Retry AGAIN =
      Retry.backoff(49, Duration.ofMillis(20))
          .maxBackoff(Duration.ofMillis(500))
          .filter(IOException.class::isInstance)
          .onRetryExhaustedThrow((spec, signal) -> signal.failure());

  private final ReplicaSet seeds;
  private final ShardDirectory shards;
  private final Mono<ClusterFacts> facts;
  private final Set<ReplicaSet> passed = ConcurrentHashMap.newKeySet();
  private final Map<ServerAddressName, Mono<Void>> checks = new ConcurrentHashMap<>();

  /**
   * By shard id, the latest check of each shard that refuses the user. While a shard is in this
   * map, every command waits for its check.
   */
  private final Map<String, Mono<Void>> refusing = new ConcurrentHashMap<>();

  /**
   * The highest wire version that all checked shards support: the lowest of the shards' versions.
   */
  private final AtomicInteger leastWireVersion = new AtomicInteger(Integer.MAX_VALUE);

  /** The type and version of the seeds; null before the first reply. */
  private volatile @Nullable ClusterFacts seedFacts;

  private volatile boolean done;

  /**
   * Whether a command has timed out while it waited for the check. Later commands then do not wait.
   */
  private volatile boolean tooSlow;

  ClusterCheck(ReplicaSet seeds, ShardDirectory shards) {
    this.seeds = seeds;
    this.shards = shards;
    this.facts =
        Mono.defer(this::check)
            .timeout(TIMEOUT, Mono.error(ClusterCheck::unanswered))
            .doOnNext(found -> done = true)
            .doOnError(
                failure -> !isSilence(failure),
                // The servers have replied, so the next check will end soon. Commands can wait for
                // it again.
                reason -> tooSlow = false)
            .contextWrite(LateErrors::logged)
            .cache(found -> FOR_GOOD, ClusterCheck::keptFailure, () -> FAILURE_KEPT);
  }

  /**
   * The type of the seeds, and the versions of the seeds and of the checked shards; null before the
   * first reply.
   */
  public @Nullable ClusterFacts known() {
    ClusterFacts found = seedFacts;
    return found == null
        ? null
        : new ClusterFacts(
            found.hasMongos(),
            found.serverVersion(),
            Math.min(found.maxWireVersion(), leastWireVersion.get()));
  }

  /** Whether the URI names a mongos. */
  public Mono<Boolean> hasMongos() {
    ClusterFacts atHand = seedFacts;
    return atHand != null ? Mono.just(atHand.hasMongos()) : facts.map(ClusterFacts::hasMongos);
  }

  /** Whether the check of the cluster has succeeded. Single shards may still be unchecked. */
  public boolean isDone() {
    return done;
  }

  /**
   * Completes when the check is done, or when a command has waited for it long enough. After such a
   * wait without a result, later commands continue at once, until the check gets a reply. The check
   * continues in the background.
   */
  public Mono<Void> doneOrSilent() {
    return Mono.defer(
        () ->
            isDone()
                ? noneRefusing()
                : tooSlow ? Mono.empty() : Mono.firstWithSignal(facts.then(), silence()));
  }

  private Mono<Void> silence() {
    return Mono.delay(RoutingCatalog.MOMENT)
        .then(
            Mono.defer(
                () ->
                    seedFacts == null
                        ? Mono.delay(PATIENCE.minus(RoutingCatalog.MOMENT))
                        : Mono.<Long>empty()))
        .then()
        .doOnSuccess(end -> tooSlow = !isDone());
  }

  /**
   * The time for which a failure is kept and returned to further commands. If the servers did not
   * reply, the failure is not kept, because the servers may be up at the next command.
   */
  private static Duration keptFailure(Throwable failure) {
    return isSilence(failure) ? Duration.ZERO : FAILURE_KEPT;
  }

  private static boolean isSilence(Throwable failure) {
    return failure instanceof CommandFailure refused
        && (refused.code() == ErrorCodes.HOST_UNREACHABLE
            || refused.code() == ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE);
  }

  /**
   * The error for a command that timed out while it waited for this check, if no mongos can execute
   * the command.
   */
  public static CommandFailure silent() {
    return new CommandFailure(
        ErrorCodes.HOST_UNREACHABLE,
        "HostUnreachable",
        "neither the config servers nor a mongos of the URI has replied, so the owning shard is"
            + " not known");
  }

  Mono<Void> done() {
    return Mono.defer(() -> isDone() ? noneRefusing() : facts.then());
  }

  /** The ids of the shards that refuse the user. */
  public Set<String> refusing() {
    return Set.copyOf(refusing.keySet());
  }

  /** Completes when every shard is usable. If a shard is not usable, fails with the reason. */
  public Mono<Void> everyShardPassed() {
    return done()
        .thenMany(Flux.defer(() -> Flux.fromIterable(shards.known())))
        .concatMap(id -> shards.shard(id).flatMap(shard -> passed(id, shard, (BsonDocument) null)))
        .then();
  }

  /** Whether a command may go to a shard without further checks. */
  boolean hasPassed(ReplicaSet shard) {
    return passed.contains(shard) && refusing.isEmpty();
  }

  /**
   * Completes when a shard is usable. If it is not, fails with the reason. If no server of the
   * shard can be reached, fails in the same way as the command would.
   *
   * @param command the command for the shard
   */
  Mono<Void> passed(String id, ReplicaSet shard, OpMsg command) {
    if (passed.contains(shard)) {
      return Mono.empty();
    }
    Mono<Void> check = passed(id, shard, ReplicaSet.readPreference(command));
    return Retryability.of(command).afterBreak() ? check.retryWhen(AGAIN) : check;
  }

  private Mono<Void> passed(String id, ReplicaSet shard, @Nullable BsonDocument readPreference) {
    return shard
        .servers()
        .select(readPreference)
        .flatMap(
            server ->
                checks.computeIfAbsent(
                    server.name(),
                    name ->
                        ask(id, shard, server).cache(end -> FOR_GOOD, this::kept, () -> FOR_GOOD)));
  }

  private Duration kept(Throwable failure) {
    return isRefusal(failure) ? FAILURE_KEPT : Duration.ZERO;
  }

  /** Fails if a shard still refuses the user. */
  private Mono<Void> noneRefusing() {
    return Flux.fromIterable(refusing.entrySet())
        .concatMap(
            shard ->
                shard
                    .getValue()
                    .timeout(SHARD_TIMEOUT, NoAnswer.within(SHARD_TIMEOUT))
                    .onErrorResume(
                        e -> !isRefusal(e),
                        e -> {
                          refusing.remove(shard.getKey());
                          return Mono.empty();
                        }))
        .then();
  }

  private static boolean isRefusal(Throwable failure) {
    return failure instanceof CommandFailure refused
        && (refused.code() == ErrorCodes.UNAUTHORIZED
            || refused.code() == ErrorCodes.AUTHENTICATION_FAILED);
  }

  private static CommandFailure unanswered() {
    return new CommandFailure(
        ErrorCodes.HOST_UNREACHABLE,
        "HostUnreachable",
        "the cluster has not replied to the start check of direct mode within "
            + TIMEOUT.toSeconds()
            + " s");
  }

  private Mono<ClusterFacts> check() {
    return seeds
        .send(command("hello"))
        .zipWhen(hello -> seeds.send(command("buildInfo")))
        .flatMap(
            both -> {
              BsonDocument hello = both.getT1().document();
              boolean mongos = new BsonString("isdbgrid").equals(hello.get("msg"));
              if (!mongos && !hello.containsKey("configsvr")) {
                return Mono.error(
                    new CommandFailure(
                        ErrorCodes.ILLEGAL_OPERATION,
                        "IllegalOperation",
                        both.getT1().server()
                            + " is neither a mongos nor a config server: direct mode needs the URI"
                            + " of mongoses or of config servers"));
              }
              String version =
                  both.getT2().document().getString("version", new BsonString("0.0.0")).getValue();
              int wireVersion = hello.getNumber("maxWireVersion", new BsonInt32(0)).intValue();
              ClusterFacts found = new ClusterFacts(mongos, version, wireVersion);
              seedFacts = found;
              return allShards()
                  .flatMap(all -> checkShards(all).cache().timeout(ALL_SHARDS, Mono.empty()))
                  .thenReturn(found);
            });
  }

  private Mono<Map<String, ReplicaSet>> allShards() {
    return shards
        .all()
        .onErrorMap(
            e -> e instanceof CommandFailure refused && refused.code() == ErrorCodes.UNAUTHORIZED,
            e ->
                new CommandFailure(
                    ErrorCodes.UNAUTHORIZED,
                    "Unauthorized",
                    "direct mode may not read the routing metadata. Missing privilege: action find"
                        + " on the database config, for the user on the config servers. The role"
                        + " read on config includes this privilege ("
                        + e.getMessage()
                        + ")"));
  }

  private Mono<Void> checkShards(Map<String, ReplicaSet> all) {
    return Flux.fromIterable(all.entrySet())
        .flatMapDelayError(
            shard ->
                passed(shard.getKey(), shard.getValue(), (BsonDocument) null)
                    .retryWhen(AGAIN)
                    .timeout(SHARD_TIMEOUT, NoAnswer.within(SHARD_TIMEOUT))
                    .onErrorResume(
                        e -> !isRefusal(e),
                        e -> {
                          log.warn("shard {} can't be checked: {}", shard.getKey(), e.toString());
                          return Mono.empty();
                        }),
            Integer.MAX_VALUE,
            1)
        .onErrorMap(StaleRoutes::single)
        .then();
  }

  private Mono<Void> ask(String id, ReplicaSet shard, ServerSet.Server server) {
    OpMsg status = OpMsg.command(Privileges.command().append("$db", new BsonString("admin")));
    return shard
        .sendTo(server.name(), status)
        .flatMap(
            answer ->
                server.maxWireVersion() >= WIRE_VERSION_8_0
                        && shards.known().size() > 1
                        && lacksDirectOperations(answer.document())
                    ? Mono.<Void>error(missingRole(id))
                    : Mono.<Void>empty())
        .onErrorMap(ServerRefusedException.class, e -> unknownToShard(id, e))
        .doOnSuccess(
            end -> {
              leastWireVersion.accumulateAndGet(server.maxWireVersion(), Math::min);
              passed.add(shard);
              refusing.remove(id);
            })
        .doOnError(
            ClusterCheck::isRefusal,
            e -> refusing.put(id, Objects.requireNonNull(checks.get(server.name()))));
  }

  /**
   * Whether authentication is on and the user lacks the action that 8.0 requires for direct
   * operations.
   */
  static boolean lacksDirectOperations(BsonDocument connectionStatus) {
    return !Privileges.of(connectionStatus)
        .missing(null, "", "issueDirectShardOperations")
        .isEmpty();
  }

  private static CommandFailure missingRole(String shard) {
    return new CommandFailure(
        ErrorCodes.UNAUTHORIZED,
        "Unauthorized",
        "shard "
            + shard
            + " has version 8.0 or later and refuses direct operations of this user. Missing role:"
            + " directShardOperations on the database admin of every shard; "
            + SCRIPT);
  }

  private static CommandFailure unknownToShard(String shard, Throwable e) {
    return new CommandFailure(
        ErrorCodes.AUTHENTICATION_FAILED,
        "AuthenticationFailed",
        "shard "
            + shard
            + " rejects the user: direct mode needs the same user on every shard, because users"
            + " created through a mongos exist on the config servers only; "
            + SCRIPT
            + " ("
            + e.getMessage()
            + ")");
  }

  private static OpMsg command(String name) {
    return OpMsg.command(
        new BsonDocument(name, new BsonInt32(1)).append("$db", new BsonString("admin")));
  }
}
