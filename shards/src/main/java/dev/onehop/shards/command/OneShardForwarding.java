package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.Retryability;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.shards.cluster.VersionFormat;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.shards.cursor.ShardCursor;
import dev.onehop.shards.request.ForwardedCommand;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Exchange;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireProtocolException;
import dev.onehop.wire.watch.ServerSet.Server;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.bson.BsonDocument;
import org.bson.BsonSerializationException;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The fast path for most commands, which have one statement with one owner. The version is added to
 * the encoded message. Neither the message nor the reply is decoded. {@link ClusterRouter#execute}
 * handles every other command, and every reply that needs more work.
 *
 * <p>Thread-safe.
 */
final class OneShardForwarding {
  private final RoutingCatalog catalog;
  private final ShardDirectory shards;
  private final ClusterCheck clusterCheck;
  private final DefaultConcerns concerns;
  private final Cursors cursors;
  private final WirePool pool;
  private final ClusterClock clock;
  private final Versions versions;
  private final @Nullable DriverRetries driver;
  private final Map<String, Suffixes> suffixes = new ConcurrentHashMap<>();

  /**
   * The encoded version fields for the commands that are routed by one routing table. They depend
   * on the shard and on the version format. The fields are BSON elements without a document around
   * them.
   */
  private record Suffixes(RoutingTable table, Map<ForShard, byte[]> versions) {}

  private record ForShard(String shard, int maxWireVersion) {}

  OneShardForwarding(
      RoutingCatalog catalog,
      ShardDirectory shards,
      ClusterCheck clusterCheck,
      DefaultConcerns concerns,
      Cursors cursors,
      WirePool pool,
      ClusterClock clock,
      Versions versions,
      @Nullable DriverRetries driver) {
    this.catalog = catalog;
    this.shards = shards;
    this.clusterCheck = clusterCheck;
    this.concerns = concerns;
    this.cursors = cursors;
    this.pool = pool;
    this.clock = clock;
    this.versions = versions;
    this.driver = driver;
  }

  /** Drops the encoded fields of an unused collection. */
  void forget(String namespace) {
    suffixes.remove(namespace);
  }

  /** See {@link dev.onehop.shards.request.CommandRouter#tryForward}. */
  @Nullable ForwardedCommand tryForward(
      ByteBuf frame, ForwardedCommand.Carrier carrier, ForwardedCommand.Outcome outcome) {
    ShardStatement statement;
    Target target;
    RoutingTable table;
    try {
      statement = ShardStatement.read(frame);
      if (statement == null) {
        return null;
      }
      table = catalog.cached(statement.namespace());
      if (table == null) {
        return null;
      }
      target = target(table, statement);
    } catch (MalformedDocumentException
        | IndexOutOfBoundsException
        | BsonSerializationException
        | ShardKeyException e) {
      // After null, the caller calls execute, which reports the error.
      return null;
    }
    ReplicaSet shard = target.isSingleShard() ? shards.known(target.shard()) : null;
    Server primary = shard == null ? null : shard.servers().primary();
    if (shard == null || primary == null || !clusterCheck.hasPassed(shard)) {
      return null;
    }
    byte[] version = version(table, target.shard(), primary.maxWireVersion());
    byte[] concern = statement.hasConcern() ? new byte[0] : concerns.encoded(statement.name());
    ByteBuf message = statement.with(frame, version, concern);
    outcome.sending(statement.name(), table.namespace(), target.shard(), primary.name());
    BooleanSupplier cancel =
        carrier.send(
            primary.name(),
            message,
            statement.head(),
            new Reply(statement, target, shard, primary.name(), frame, outcome));
    return new ForwardedCommand(statement.name(), cancel);
  }

  /** See {@link dev.onehop.shards.request.CommandRouter#carrierOn}. */
  ForwardedCommand.Carrier carrierOn(@Nullable EventLoop loop) {
    return (server, message, head, outcome) ->
        pool.exchange(server, loop, message, head, outcome)::cancel;
  }

  private static Target target(RoutingTable table, ShardStatement statement) {
    return switch (statement.kind()) {
      case INSERT -> Targeter.insert(table, statement.document());
      case BY_FILTER -> Targeter.find(table, statement.document(), TargetingOptions.NONE);
      case BY_WHOLE_KEY ->
          Targeter.findAndModify(table, statement.document(), TargetingOptions.NONE);
    };
  }

  private byte[] version(RoutingTable table, String shard, int maxWireVersion) {
    Suffixes known = suffixes.get(table.namespace());
    if (known == null || known.table() != table) {
      known = new Suffixes(table, new ConcurrentHashMap<>());
      suffixes.put(table.namespace(), known);
    }
    return known
        .versions()
        .computeIfAbsent(
            new ForShard(shard, maxWireVersion),
            key -> elements(versions.of(VersionFormat.of(maxWireVersion), table, shard)));
  }

  /** The encoded elements of a document, without the document's length and final NUL. */
  static byte[] elements(BsonDocument document) {
    java.nio.ByteBuffer bytes =
        new RawBsonDocument(document, new BsonDocumentCodec()).getByteBuffer().asNIO();
    byte[] elements = new byte[bytes.remaining() - 5];
    bytes.position(bytes.position() + 4);
    bytes.get(elements);
    return elements;
  }

  private final class Reply implements Exchange.Outcome {
    private final ShardStatement statement;
    private final Target target;
    private final ReplicaSet shard;
    private final ServerAddressName server;
    private final ByteBuf frame;
    private final ForwardedCommand.Outcome outcome;

    Reply(
        ShardStatement statement,
        Target target,
        ReplicaSet shard,
        ServerAddressName server,
        ByteBuf frame,
        ForwardedCommand.Outcome outcome) {
      this.statement = statement;
      this.target = target;
      this.shard = shard;
      this.server = server;
      this.frame = frame;
      this.outcome = outcome;
    }

    @Override
    public void replied(ByteBuf message) {
      try {
        take(message);
      } catch (Throwable failure) {
        outcome.failed(failure);
      }
    }

    private void take(ByteBuf message) {
      ReplyHead head;
      @Nullable BsonDocument reply;
      try {
        head = ReplyHead.read(message);
        reply = head.isPlain() ? null : OpMsg.decode(message.duplicate()).body();
      } catch (MalformedDocumentException
          | WireProtocolException
          | BsonSerializationException
          | IndexOutOfBoundsException e) {
        outcome.failed(new ProtocolException("the reply is not valid BSON: " + e.getMessage()));
        return;
      }
      clock.observe(message, head.clusterTimeAt());
      if (reply == null) {
        pass(message, true);
      } else if (ErrorCodes.ok(reply) && head.cursorIdAt() >= 0) {
        keepCursor(message, head.cursorIdAt());
        pass(message, true);
      } else if (isStale(reply)) {
        RoutingTable table = target.table();
        outcome.notDone(true, catalog.refresh(table.namespace(), table).then().onErrorComplete());
      } else if (Retryability.isBroken(reply) && isSentAgainHere()) {
        outcome.broken();
      } else if (Retryability.isBroken(reply)) {
        pass(message, false);
      } else if (statement.retryability().isAgainAfter(reply)
          || ErrorCodes.isOfShardedView(reply)
          || WriteResult.movesDocument(reply)) {
        outcome.notDone(false, Mono.empty());
      } else if (reply.containsKey("writeConcernError")) {
        passNamed(message, reply);
      } else {
        pass(message, ErrorCodes.ok(reply) && !reply.containsKey("writeErrors"));
      }
    }

    /** Whether OneHop, and not the driver, sends the command again after a broken connection. */
    private boolean isSentAgainHere() {
      Retryability retryability = statement.retryability();
      return retryability.afterBreak() && (driver == null || !driver.afterBreak(retryability));
    }

    private void pass(ByteBuf message, boolean ok) {
      message.setIntLE(message.readerIndex() + 8, frame.getIntLE(frame.readerIndex() + 4));
      outcome.replied(message, ok);
    }

    /** Returns the reply with the shard's name in its write concern error, as mongos does. */
    private void passNamed(ByteBuf message, BsonDocument reply) {
      BsonDocument named = WriteResult.of(target.shard(), OpMsg.decode(frame.duplicate()), reply);
      ByteBuf encoded = message.alloc().buffer();
      try {
        int id = message.getIntLE(message.readerIndex() + 4);
        OpMsg.replyTo(0, id, named).encode(encoded);
        pass(encoded, ErrorCodes.ok(named) && !named.containsKey("writeErrors"));
      } finally {
        encoded.release();
      }
    }

    private void keepCursor(ByteBuf message, int idAt) {
      ReplicaSet.Answer answer = new ReplicaSet.Answer(server, OpMsg.decode(message.duplicate()));
      ShardCursor cursor = new ShardCursor(shard, OpMsg.decode(frame.duplicate()), answer);
      long kept = cursors.add(cursor.id(), cursor);
      // The cursor's id is always an int64, so it can be replaced in place.
      message.setLongLE(idAt, kept);
    }

    @Override
    public void sent() {
      throw new IllegalStateException("a forwarded command must have a reply");
    }

    @Override
    public void failed(Throwable cause) {
      if (cause instanceof IOException && isSentAgainHere()) {
        outcome.broken();
      } else {
        outcome.failed(cause);
      }
    }

    @Override
    public void unsent(Throwable cause) {
      if (cause instanceof IOException
          && statement.retryability().afterBreak()
          && (driver == null || !NotSentException.isLocal(cause))) {
        outcome.notDone(false, Mono.empty());
      } else {
        outcome.failed(NotSentException.of(cause));
      }
    }
  }

  private static boolean isStale(BsonDocument reply) {
    if (!ErrorCodes.ok(reply)) {
      return ErrorCodes.isStale(ErrorCodes.of(reply));
    }
    return reply.isArray("writeErrors")
        && reply.getArray("writeErrors").size() == 1
        && ErrorCodes.isStale(ErrorCodes.of(reply.getArray("writeErrors").get(0).asDocument()));
  }
}
