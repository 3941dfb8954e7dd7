package dev.onehop.shards.cluster;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.watch.ServerSet;
import dev.onehop.wire.watch.ServerSet.Server;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * Sends commands to the servers of one replica set, or to mongoses: to the primary, or to a server
 * that fits the command's read preference. A retryable command is sent again while a new primary is
 * being elected, with at most {@value #MAX_TRIES} attempts within half a minute. A command may be
 * the reason why its connection breaks, for example if it crashes the server. If the connection
 * breaks each time, the command is therefore sent at most {@value #MAX_BROKEN} times, and only once
 * if the driver retries it.
 *
 * <p>Thread-safe.
 */
public final class ReplicaSet {
  private static final int MAX_TRIES = 50;

  /**
   * The largest number of attempts for a command that allows partial results. It is small, because
   * the reply may leave out the shard. Equal to {@code kMaxNumFailedHostRetryAttempts} of mongos.
   */
  private static final int MAX_TRIES_FOR_A_PART = 4;

  /**
   * The largest number of attempts if each attempt breaks its connection. A mongos has the same
   * limit for retryable commands.
   */
  private static final int MAX_BROKEN = 3;

  private static final Duration MAX_TIME = Duration.ofSeconds(30);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

  private final ServerSet servers;
  private final WirePool pool;
  private final ClusterClock clock;

  public ReplicaSet(ServerSet servers, WirePool pool, ClusterClock clock) {
    this.servers = servers;
    this.pool = pool;
    this.clock = clock;
  }

  /** A reply and the server that sent it. The next batch of a cursor comes from the same server. */
  public record Answer(ServerAddressName server, OpMsg message) {
    public BsonDocument document() {
      return message.body();
    }

    /** Emits this answer, or a {@link CommandFailure} if the command failed. */
    public Mono<Answer> orFailure() {
      return ErrorCodes.ok(document())
          ? Mono.just(this)
          : Mono.error(CommandFailure.of(document(), server));
    }
  }

  public ServerSet servers() {
    return servers;
  }

  /**
   * Sends a command to the server that fits it. Fails with an {@link IOException} if the server
   * cannot be reached.
   */
  public Mono<Answer> send(OpMsg command) {
    return send(command, server -> command);
  }

  /**
   * Runs a command and returns the reply. Fails with a {@link CommandFailure} if a server refuses
   * the command.
   */
  public Mono<BsonDocument> run(String database, BsonDocument command) {
    return send(OpMsg.command(command.append("$db", new BsonString(database))))
        .flatMap(Answer::orFailure)
        .map(Answer::document);
  }

  /**
   * Sends a command whose content depends on the server.
   *
   * @param form creates the command for a server; called once per attempt
   */
  public Mono<Answer> send(OpMsg command, Function<Server, OpMsg> form) {
    return Mono.deferContextual(context -> new Attempts(command, form, context).next());
  }

  /** The attempts of one command, one after another. */
  private final class Attempts {
    private final Retryability retryability;
    private final @Nullable BsonDocument readPreference;
    private final Function<Server, OpMsg> form;
    private final long deadline = System.nanoTime() + MAX_TIME.toNanos();
    private final int most;
    private final @Nullable DriverRetries driver;
    private final int mostBroken;
    private int tries;
    private int broken;

    Attempts(OpMsg command, Function<Server, OpMsg> form, ContextView context) {
      this.retryability = Retryability.of(command);
      this.readPreference = readPreference(command);
      this.form = form;
      this.most = PartialResults.areAllowed(command.body()) ? MAX_TRIES_FOR_A_PART : MAX_TRIES;
      this.driver = context.getOrDefault(DriverRetries.class, null);
      this.mostBroken = driver != null && driver.afterBreak(retryability) ? 1 : MAX_BROKEN;
      this.broken = DriverRetries.broken(context);
    }

    Mono<Answer> next() {
      tries++;
      return servers
          .select(readPreference)
          .flatMap(
              server ->
                  sendTo(server.name(), form.apply(server))
                      .map(answer -> isAgainAfter(answer) ? again() : Mono.just(answer))
                      .onErrorResume(
                          IOException.class,
                          e -> Mono.just(isAgainAfter(e) ? again() : Mono.error(e)))
                      .flatMap(Function.identity()));
    }

    private Mono<Answer> again() {
      return Mono.delay(pause(tries)).then(Mono.defer(this::next));
    }

    private boolean isAgainAfter(Answer answer) {
      BsonDocument reply = answer.document();
      return retryability.isAgainAfter(reply)
          && isTimeLeft()
          && (!Retryability.isBroken(reply) || isAgainAfterBreak());
    }

    private boolean isAgainAfter(IOException failure) {
      if (!retryability.afterBreak() || !isTimeLeft()) {
        return false;
      }
      return failure instanceof NotSentException unsent
          ? driver == null || !unsent.isLocal()
          : isAgainAfterBreak();
    }

    private boolean isAgainAfterBreak() {
      broken++;
      return broken < mostBroken;
    }

    private boolean isTimeLeft() {
      return tries < most && System.nanoTime() - deadline < 0;
    }
  }

  private static Duration pause(int tries) {
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(tries - 1, 10));
    return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
  }

  /** Sends a command to a given server, without retries. */
  public Mono<Answer> sendTo(ServerAddressName server, OpMsg command) {
    return pool.send(server, command)
        .map(
            reply -> {
              clock.observe(reply.body());
              return new Answer(server, reply);
            });
  }

  /** The read preference of a command; null for the primary only. */
  public static @Nullable BsonDocument readPreference(OpMsg command) {
    if (!Retryability.isRead(command)) {
      return null;
    }
    BsonValue given = command.body().get("$readPreference");
    return given != null && given.isDocument() ? given.asDocument() : null;
  }
}
