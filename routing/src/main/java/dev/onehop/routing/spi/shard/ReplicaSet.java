package dev.onehop.routing.spi.shard;

import dev.onehop.routing.internal.wire.WirePool;
import dev.onehop.routing.spi.shard.ServerSet.Server;
import dev.onehop.routing.spi.wire.OpMsg;
import dev.onehop.routing.spi.wire.ServerAddressName;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Sends commands to the servers of one replica set, or to mongoses: to the primary, or to where the
 * command's read preference leads. What may be sent twice is sent again while a new primary is
 * being elected, within {@value #MAX_TRIES} tries and half a minute.
 *
 * <p>Thread-safe.
 */
public final class ReplicaSet {
  private static final int MAX_TRIES = 50;

  /** As {@code kMaxNumFailedHostRetryAttempts} of mongos, for who can do without. */
  private static final int MAX_TRIES_FOR_A_PART = 4;

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

  /** Where a reply came from, so that a cursor's next batch is asked for at the same server. */
  public record Answer(ServerAddressName server, OpMsg message) {
    public BsonDocument document() {
      return message.body();
    }
  }

  public ServerSet servers() {
    return servers;
  }

  /** Sends a command where it belongs. A server that can't be reached is an {@link IOException}. */
  public Mono<Answer> send(OpMsg command) {
    return send(command, server -> command);
  }

  /**
   * Sends a command in the form that fits the server.
   *
   * @param form called once for every try
   */
  public Mono<Answer> send(OpMsg command, Function<Server, OpMsg> form) {
    return Mono.defer(
        () -> {
          long deadline = System.nanoTime() + MAX_TIME.toNanos();
          int tries = PartialResults.areAllowed(command.body()) ? MAX_TRIES_FOR_A_PART : MAX_TRIES;
          return attempt(
              Retryability.of(command), readPreference(command), form, deadline, tries, 1);
        });
  }

  private Mono<Answer> attempt(
      Retryability retryability,
      @Nullable BsonDocument readPreference,
      Function<Server, OpMsg> form,
      long deadline,
      int mostTries,
      int tries) {
    boolean last = tries >= mostTries || System.nanoTime() - deadline >= 0;
    Mono<Answer> again =
        Mono.defer(
            () ->
                Mono.delay(pause(tries))
                    .then(
                        attempt(
                            retryability, readPreference, form, deadline, mostTries, tries + 1)));
    return servers
        .select(readPreference)
        .flatMap(
            server ->
                sendTo(server.name(), form.apply(server))
                    .flatMap(
                        answer ->
                            !last && retryability.isAgainAfter(answer.document())
                                ? again
                                : Mono.just(answer))
                    .onErrorResume(
                        IOException.class,
                        e -> !last && retryability.afterBreak() ? again : Mono.error(e)));
  }

  private static Duration pause(int tries) {
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(tries - 1, 10));
    return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
  }

  /** Sends a command to one member. */
  public Mono<Answer> sendTo(ServerAddressName server, OpMsg command) {
    return pool.send(server, command)
        .map(
            reply -> {
              clock.observe(reply.body());
              return new Answer(server, reply);
            });
  }

  /** Which members a command may go to; null for the primary alone. */
  public static @Nullable BsonDocument readPreference(OpMsg command) {
    if (!Retryability.isRead(command)) {
      return null;
    }
    BsonValue asked = command.body().get("$readPreference");
    return asked != null && asked.isDocument() ? asked.asDocument() : null;
  }
}
