package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.WireFrames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * A server without a network: answers each socket's requests in order and when it is told to, in
 * pieces of any size. Authentication is one conversation per socket, as on a mongod; a command that
 * echoes its tag stands for all others.
 */
final class SimulatedServer implements SocketOpener {
  final List<Socket> sockets = new ArrayList<>();
  private final Random random;
  private final ByteBufAllocator allocator;
  private final boolean authenticates;

  /** What must not happen and did, where the network would have swallowed it. */
  @Nullable Throwable failure;

  SimulatedServer(Random random, ByteBufAllocator allocator, boolean authenticates) {
    this.random = random;
    this.allocator = allocator;
    this.authenticates = authenticates;
  }

  @Override
  public SocketEnd open(ServerKey server, LaneOptions options, WireSocket socket) {
    Socket opened = new Socket(socket, options);
    if (server.tlsName() != null && options.engine() == null) {
      failure = new AssertionError("a socket without TLS");
    }
    sockets.add(opened);
    return opened;
  }

  /** One simulated connection. */
  final class Socket implements SocketEnd {
    final WireSocket wire;
    final LaneOptions options;
    final Deque<OpMsg> unanswered = new ArrayDeque<>();
    private final EmbeddedChannel frames;

    /** Whether nobody can look after it. */
    boolean sick;

    private boolean writable = true;
    private boolean connected;
    private boolean closed;
    private boolean helloSeen;
    private boolean authenticated;
    private @Nullable String conversation;

    Socket(WireSocket wire, LaneOptions options) {
      this.wire = wire;
      this.options = options;
      this.frames =
          new EmbeddedChannel(
              new WireFrames(),
              new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message)
                    throws Exception {
                  ByteBuf frame = (ByteBuf) message;
                  try {
                    if (!wire.isClosed()) {
                      wire.received(frame);
                    }
                  } finally {
                    frame.release();
                  }
                }

                @Override
                public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                  if (cause instanceof AssertionError || cause instanceof RuntimeException) {
                    failure = cause;
                  }
                  wire.broken(cause);
                }
              });
    }

    boolean isConnecting() {
      return !connected && !closed;
    }

    boolean isOpen() {
      return connected && !closed;
    }

    void connect() {
      connected = true;
      wire.connected();
    }

    @Override
    public void write(ByteBuf message) {
      OpMsg request = OpMsg.decode(message);
      message.release();
      if (closed) {
        return;
      }
      if (request.body().containsKey("client")) {
        // Error 186 on a real server.
        check(!helloSeen, "client metadata twice on one socket");
        helloSeen = true;
      }
      if (request.expectsReply()) {
        unanswered.add(request);
      }
    }

    @Override
    public boolean isWritable() {
      return writable && !closed;
    }

    void writable(boolean now) {
      writable = now;
      if (now) {
        wire.writable();
      }
    }

    @Override
    public long pendingBytes() {
      if (sick) {
        throw new IllegalStateException("this socket is sick");
      }
      return 0;
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        unanswered.clear();
        // On a real channel, too, this is heard of later.
        frames.runPendingTasks();
      }
    }

    /** The connection breaks in the middle of whatever is under way. */
    void reset() {
      wire.broken(new IOException("Connection reset by peer"));
    }

    /** Answers the oldest request. */
    void answer() {
      OpMsg request = unanswered.remove();
      send(request.reply(random.nextInt(), execute(request)));
    }

    /** Answers a request that nobody sent. */
    void answerNothing() {
      send(
          new OpMsg(
              1,
              -random.nextInt(1_000_000) - 1,
              0,
              OpMsg.command(new BsonDocument("ok", new BsonInt32(1))).body(),
              List.of()));
    }

    /** Answers the oldest request with an error. */
    void refuse() {
      OpMsg request = unanswered.remove();
      send(request.reply(random.nextInt(), new BsonDocument("ok", new BsonInt32(0))));
    }

    /** Answers the oldest request with a document of which no field has a type that exists. */
    void answerNonsense() {
      OpMsg request = unanswered.remove();
      ByteBuf whole = allocator.buffer();
      request.reply(1, execute(request)).encode(whole);
      whole.setByte(MessageHeader.BYTES + 9, 0x55);
      frames.writeInbound(whole);
    }

    /** Begins an answer and breaks. */
    void answerHalf() {
      OpMsg request = unanswered.remove();
      ByteBuf whole = allocator.buffer();
      request.reply(1, execute(request)).encode(whole);
      frames.writeInbound(whole.readSlice(1 + random.nextInt(whole.readableBytes() - 1)).copy());
      whole.release();
      reset();
    }

    private void send(OpMsg reply) {
      ByteBuf whole = allocator.buffer();
      reply.encode(whole);
      while (whole.isReadable() && !wire.isClosed()) {
        int piece = Math.min(whole.readableBytes(), 1 + random.nextInt(64));
        ByteBuf part = allocator.buffer(piece).writeBytes(whole, piece);
        frames.writeInbound(part);
      }
      whole.release();
    }

    void dispose() {
      frames.finishAndReleaseAll();
    }

    private BsonDocument execute(OpMsg request) {
      BsonDocument ok = new BsonDocument("ok", new BsonInt32(1));
      BsonDocument body = request.body();
      switch (request.commandName()) {
        case "hello" -> {
          if (body.containsKey("saslSupportedMechs")) {
            // Which ends a conversation on a real server.
            conversation = null;
          }
          if (isX509(body.getDocument("speculativeAuthenticate", new BsonDocument()))) {
            authenticated = true;
            ok.append("speculativeAuthenticate", new BsonDocument("user", new BsonString("CN=a")));
          } else if (body.containsKey("speculativeAuthenticate")) {
            conversation = nonce(body.getDocument("speculativeAuthenticate"));
            ok.append(
                "speculativeAuthenticate",
                new BsonDocument("conversationId", new BsonInt32(1))
                    .append("done", BsonBoolean.FALSE));
          }
          if (body.containsKey("tag")) {
            ok.append("tag", body.get("tag"));
          }
        }
        case "authenticate" -> authenticated = true;
        case "saslStart" -> {
          if (body.getString("mechanism").getValue().equals("PLAIN")) {
            authenticated = true;
            break;
          }
          // Error 5626703 on a real server.
          check(!authenticated || !body.containsKey("apiStrict"), "authenticated twice");
          conversation = nonce(body);
          ok.append("conversationId", new BsonInt32(1)).append("done", BsonBoolean.FALSE);
        }
        case "saslContinue" -> {
          check(nonce(body).equals(conversation), "two conversations mixed up");
          conversation = null;
          authenticated = true;
          ok.append("conversationId", new BsonInt32(1)).append("done", BsonBoolean.TRUE);
        }
        default -> {
          check(authenticated || !authenticates, "a command before authentication");
          ok.append("tag", body.get("tag", new BsonString("")));
        }
      }
      return ok;
    }

    private static boolean isX509(BsonDocument step) {
      return step.getString("mechanism", new BsonString("")).getValue().equals("MONGODB-X509");
    }

    private static String nonce(BsonDocument step) {
      BsonBinary payload = step.getBinary("payload");
      String text = new String(payload.getData(), StandardCharsets.UTF_8);
      return text.substring(text.indexOf("r=") + 2);
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
