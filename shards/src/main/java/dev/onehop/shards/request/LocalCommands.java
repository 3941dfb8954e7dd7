package dev.onehop.shards.request;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Answers the commands that need no server: the handshake, health and counters. The replies have
 * the format of a mongos, with the additional {@link RouterIdentity#marks}.
 *
 * <p>Thread-safe.
 */
public final class LocalCommands {
  private final RouterIdentity identity;
  private final boolean handshakeOnly;
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicLong connectionsCreated = new AtomicLong();
  private final Map<Counter, LongAdder> counters = new EnumMap<>(Counter.class);

  /** The counters of {@code serverStatus.opcounters}, in mongos' order. */
  private enum Counter {
    INSERT,
    QUERY,
    UPDATE,
    DELETE,
    GETMORE,
    COMMAND
  }

  public LocalCommands(RouterIdentity identity) {
    this(identity, false);
  }

  /**
   * @param handshakeOnly true if this object replies to the handshake only, and a mongos executes
   *     all other commands
   */
  public LocalCommands(RouterIdentity identity, boolean handshakeOnly) {
    this.identity = identity;
    this.handshakeOnly = handshakeOnly;
    for (Counter counter : Counter.values()) {
      counters.put(counter, new LongAdder());
    }
  }

  void connectionOpened() {
    connections.incrementAndGet();
    connectionsCreated.incrementAndGet();
  }

  void connectionClosed() {
    connections.decrementAndGet();
  }

  /** The reply; null if the cluster executes the command. */
  @Nullable Mono<BsonDocument> answer(OpMsg request) {
    String name = request.commandName();
    count(request, name);
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "hello", "ismaster" -> Mono.just(hello());
      case "buildinfo" -> handshakeOnly ? null : Mono.just(buildInfo());
      case "serverstatus" -> handshakeOnly ? null : Mono.just(serverStatus());
      case "isdbgrid" ->
          handshakeOnly
              ? null
              : Mono.just(
                  ok(
                      new BsonDocument("isdbgrid", new BsonInt32(1))
                          .append("hostname", new BsonString(identity.advertised().host()))));
      case "logout" ->
          Mono.error(
              new CommandFailure(
                  ErrorCodes.COMMAND_NOT_SUPPORTED,
                  "CommandNotSupported",
                  "logout is not supported, because it would apply to all operations that share the"
                      + " socket"));
      default -> null;
    };
  }

  /** Whether a command is the handshake, by any of its names. */
  static boolean isHello(String name) {
    return name.equals("hello") || name.equalsIgnoreCase("ismaster");
  }

  BsonDocument hello() {
    BsonDocument hello =
        new BsonDocument("ismaster", BsonBoolean.TRUE)
            .append("isWritablePrimary", BsonBoolean.TRUE)
            .append("helloOk", BsonBoolean.TRUE);
    hello.putAll(identity.role());
    return ok(
        hello
            .append("maxBsonObjectSize", new BsonInt32(16 * 1024 * 1024))
            .append("maxMessageSizeBytes", new BsonInt32(OpMsg.MAX_MESSAGE_BYTES))
            .append("maxWriteBatchSize", new BsonInt32(100_000))
            .append("localTime", new BsonDateTime(System.currentTimeMillis()))
            .append("logicalSessionTimeoutMinutes", new BsonInt32(30))
            // If this field is missing, drivers before 5.6 send the command getLastError to get the
            // connection id.
            .append("connectionId", new BsonInt64(connectionsCreated.get()))
            .append("maxWireVersion", new BsonInt32(identity.maxWireVersion()))
            .append("minWireVersion", new BsonInt32(0)));
  }

  private BsonDocument buildInfo() {
    List<BsonInt32> parts =
        java.util.Arrays.stream(identity.serverVersion().split("[.-]"))
            .limit(3)
            .map(part -> new BsonInt32(Integer.parseInt(part)))
            .toList();
    return ok(
        new BsonDocument("version", new BsonString(identity.serverVersion()))
            .append("versionArray", new BsonArray(parts))
            .append("modules", new BsonArray()));
  }

  private BsonDocument serverStatus() {
    BsonDocument opcounters = new BsonDocument();
    counters.forEach(
        (counter, sum) ->
            opcounters.append(counter.name().toLowerCase(Locale.ROOT), new BsonInt64(sum.sum())));
    return ok(
        new BsonDocument("host", new BsonString(identity.advertised().toString()))
            .append("version", new BsonString(identity.serverVersion()))
            .append("process", new BsonString("mongos"))
            .append("pid", new BsonInt64(ProcessHandle.current().pid()))
            .append("uptime", new BsonDouble(identity.uptime().toSeconds()))
            .append(
                "connections",
                new BsonDocument("current", new BsonInt32(connections.get()))
                    .append("totalCreated", new BsonInt64(connectionsCreated.get())))
            .append("opcounters", opcounters));
  }

  /**
   * Counts a forwarded command, which has one statement. The method {@link #answer} cannot count
   * such a command, because it does not receive the command.
   */
  void countForwarded(String name) {
    switch (name) {
      case "find" -> add(Counter.QUERY, 1);
      case "insert" -> add(Counter.INSERT, 1);
      case "update" -> add(Counter.UPDATE, 1);
      case "delete" -> add(Counter.DELETE, 1);
      default -> add(Counter.COMMAND, 1);
    }
  }

  private void count(OpMsg request, String name) {
    switch (name) {
      case "find" -> add(Counter.QUERY, 1);
      case "insert" -> add(Counter.INSERT, statements(request, "documents"));
      case "update" -> add(Counter.UPDATE, statements(request, "updates"));
      case "delete" -> add(Counter.DELETE, statements(request, "deletes"));
      case "getMore" -> add(Counter.GETMORE, 1);
      default -> add(Counter.COMMAND, 1);
    }
  }

  /** The number of a command's statements, including invalid ones. */
  private static int statements(OpMsg request, String list) {
    return request.body().get(list) instanceof BsonArray array
        ? array.size()
        : request.documents(list).size();
  }

  private void add(Counter counter, int amount) {
    Objects.requireNonNull(counters.get(counter)).add(amount);
  }

  private BsonDocument ok(BsonDocument reply) {
    reply.putAll(identity.marks());
    return reply.append("ok", new BsonDouble(1));
  }
}
