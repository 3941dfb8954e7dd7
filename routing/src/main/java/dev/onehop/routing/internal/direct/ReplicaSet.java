package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WirePool;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The primary of one replica set, found by asking the members and kept until it refuses or can't be
 * reached.
 *
 * <p>Thread-safe.
 */
final class ReplicaSet {
  private static final OpMsg HELLO =
      OpMsg.command(
          new BsonDocument("hello", new BsonInt32(1)).append("$db", new BsonString("admin")));

  private final String name;
  private final WirePool pool;
  private final ClusterClock clock;
  private volatile Set<ServerAddressName> members;
  private volatile @Nullable ServerAddressName primary;
  private volatile int maxWireVersion;

  /** Reads {@code name/host:port,host:port}, as {@code config.shards} writes it. */
  static ReplicaSet parse(String connectionString, WirePool pool, ClusterClock clock) {
    int slash = connectionString.indexOf('/');
    Set<ServerAddressName> members = new LinkedHashSet<>();
    for (String member : connectionString.substring(slash + 1).split(",", -1)) {
      members.add(ServerAddressName.parse(member.trim()));
    }
    String name = slash < 0 ? "" : connectionString.substring(0, slash);
    return new ReplicaSet(name, members, pool, clock);
  }

  private ReplicaSet(
      String name, Set<ServerAddressName> members, WirePool pool, ClusterClock clock) {
    this.name = name;
    this.members = members;
    this.pool = pool;
    this.clock = clock;
  }

  /** Where a reply came from, so that a cursor's next batch is asked for at the same server. */
  record Answer(ServerAddressName server, OpMsg message) {
    BsonDocument document() {
      return message.body();
    }
  }

  /** Sends a command to the primary. An unreachable primary is an {@link IOException}. */
  Mono<Answer> send(OpMsg command) {
    return primary().flatMap(server -> sendTo(server, command));
  }

  /** Sends a command to one member. */
  Mono<Answer> sendTo(ServerAddressName server, OpMsg command) {
    return pool.send(server, command)
        .map(
            reply -> {
              clock.observe(reply.body());
              if (ErrorCodes.isNotPrimary(ErrorCodes.of(reply.body()))) {
                primary = null;
              }
              return new Answer(server, reply);
            })
        .doOnError(IOException.class, e -> primary = null);
  }

  /** The highest wire version of the primary last asked; 0 before. */
  int maxWireVersion() {
    return maxWireVersion;
  }

  private Mono<ServerAddressName> primary() {
    ServerAddressName known = primary;
    return known != null ? Mono.just(known) : discover();
  }

  private Mono<ServerAddressName> discover() {
    List<Throwable> failures = new ArrayList<>();
    return Flux.fromIterable(members)
        .concatMap(
            member ->
                pool.send(member, HELLO)
                    .map(OpMsg::body)
                    .onErrorResume(
                        e -> {
                          failures.add(e);
                          return Mono.empty();
                        }))
        .<ServerAddressName>handle(
            (hello, sink) -> {
              ServerAddressName found = learn(hello);
              if (found != null) {
                sink.next(found);
              }
            })
        .next()
        .switchIfEmpty(
            Mono.error(
                () ->
                    failures.isEmpty()
                        ? new IOException("replica set " + name + " has no primary now")
                        : new IOException(
                            "replica set " + name + ": " + failures.get(0).getMessage(),
                            failures.get(0))));
  }

  private @Nullable ServerAddressName learn(BsonDocument hello) {
    BsonValue named = hello.get("primary");
    if (named == null || !named.isString()) {
      return null;
    }
    Set<ServerAddressName> current = new LinkedHashSet<>();
    for (BsonValue host : hello.getArray("hosts", new BsonArray())) {
      current.add(ServerAddressName.parse(host.asString().getValue()));
    }
    if (!current.isEmpty()) {
      members = current;
    }
    maxWireVersion = hello.getNumber("maxWireVersion", new BsonInt32(0)).intValue();
    ServerAddressName found = ServerAddressName.parse(named.asString().getValue());
    primary = found;
    return found;
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s/%s", name, members);
  }
}
