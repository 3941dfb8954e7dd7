package dev.onehop.jmh.routing;

import dev.onehop.wire.channel.InProcessChannel;
import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;

/**
 * A transport under the official driver that replies to each request at once on the driver's
 * thread. It acts as a mongos of {@link StubServers} or as the only member of a shard. Replies to
 * operations on documents are pre-encoded.
 */
public final class StubChannel extends InProcessChannel {
  /**
   * The position of a command's name in a message. The summands are the sizes of the parts before
   * the name: the header, the flags, the section's kind, the document's length and the element's
   * type.
   */
  private static final int COMMAND_NAME = 16 + 4 + 1 + 4 + 1;

  private static final ByteBuf FOUND =
      reply(cursor("ycsb.usertable", List.of(BsonDocument.parse("{_id: 'u', field0: 'value'}"))));
  private static final ByteBuf UPDATED = reply(BsonDocument.parse("{n: 1, nModified: 1, ok: 1}"));
  private static final ByteBuf INSERTED = reply(BsonDocument.parse("{n: 1, ok: 1}"));

  private String host = "";
  private boolean mongos;

  /** The driver creates its channels by reflection. */
  public StubChannel() {}

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return true;
  }

  @Override
  protected void connect(InetSocketAddress address) {
    host = address.getHostString();
    mongos = address.getPort() == StubMetadata.MONGOS_PORT;
    eventLoop().execute(this::connected);
  }

  @Override
  protected void take(ByteBuf message) {
    if (LegacyHello.is(message)) {
      ByteBuf out = alloc().buffer();
      LegacyHello.reply(message, 1, hello(), out);
      deliver(out);
      return;
    }
    ByteBuf ready =
        switch (message.getByte(message.readerIndex() + COMMAND_NAME)) {
          case 'u' -> UPDATED;
          case 'i' ->
              message.getByte(message.readerIndex() + COMMAND_NAME + 1) == 'n' ? INSERTED : null;
          case 'f' -> collectionStartsWith(message, 'u') ? FOUND : null;
          default -> null;
        };
    ByteBuf out = alloc().buffer();
    if (ready != null) {
      out.writeBytes(ready, 0, ready.readableBytes());
    } else {
      OpMsg request = OpMsg.decode(message.duplicate());
      request.reply(1, answer(request)).encode(out);
    }
    out.setIntLE(8, message.getIntLE(message.readerIndex() + 4));
    deliver(out);
  }

  @Override
  protected void closed() {
    // There is nothing to close.
  }

  /**
   * Whether the collection name of a find starts with the given letter. After {@code find\0} come
   * the length of the name and then the name.
   */
  private static boolean collectionStartsWith(ByteBuf message, char letter) {
    return message.getByte(message.readerIndex() + COMMAND_NAME + "find".length() + 1 + 4)
        == letter;
  }

  private BsonDocument answer(OpMsg request) {
    return switch (request.commandName()) {
      case "hello", "isMaster" -> hello();
      case "find" -> {
        String collection = request.body().getString("find").getValue();
        yield cursor(request.database() + "." + collection, StubMetadata.config(collection));
      }
      default -> new BsonDocument("ok", new BsonDouble(1));
    };
  }

  private BsonDocument hello() {
    BsonDocument hello =
        new BsonDocument("ismaster", BsonBoolean.TRUE)
            .append("isWritablePrimary", BsonBoolean.TRUE)
            .append("helloOk", BsonBoolean.TRUE)
            .append("maxBsonObjectSize", new BsonInt32(16 << 20))
            .append("maxMessageSizeBytes", new BsonInt32(OpMsg.MAX_MESSAGE_BYTES))
            .append("maxWriteBatchSize", new BsonInt32(100_000))
            .append("logicalSessionTimeoutMinutes", new BsonInt32(30))
            .append("minWireVersion", new BsonInt32(0))
            .append("maxWireVersion", new BsonInt32(17));
    if (mongos) {
      hello.append("msg", new BsonString("isdbgrid"));
    } else {
      BsonString me = new BsonString(host + ":" + StubMetadata.SHARD_PORT);
      hello
          .append("setName", new BsonString("rs" + host))
          .append("hosts", new BsonArray(List.of(me)))
          .append("primary", me)
          .append("me", me);
    }
    return hello.append("ok", new BsonDouble(1));
  }

  private static BsonDocument cursor(String namespace, List<BsonDocument> documents) {
    return new BsonDocument(
            "cursor",
            new BsonDocument("firstBatch", new BsonArray(documents))
                .append("id", new BsonInt64(0))
                .append("ns", new BsonString(namespace)))
        .append("ok", new BsonDouble(1));
  }

  private static ByteBuf reply(BsonDocument document) {
    ByteBuf out = Unpooled.buffer();
    OpMsg.command(new BsonDocument("ping", new BsonInt32(1))).reply(1, document).encode(out);
    return Unpooled.unreleasableBuffer(out).asReadOnly();
  }
}
