package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.wire.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** What a driver does with one connection: hello, authentication, then one request at a time. */
final class SimulatedLane implements LaneEnd {
  enum State {
    CONNECTING,
    HELLO,
    AUTHENTICATING,
    IDLE,
    WAITING,
    BROKEN,
    CLOSED
  }

  State state = State.CONNECTING;
  @Nullable String tag;
  @Nullable PipelineException failure;
  private final int number;
  private final Credentials credentials;
  private final ByteBufAllocator allocator;
  private @Nullable Lane lane;
  private int lastId;

  /** Whether it takes its time before it says hello. */
  boolean late;

  private @Nullable ByteBuf turnedAway;

  SimulatedLane(int number, Credentials credentials, ByteBufAllocator allocator) {
    this.number = number;
    this.credentials = credentials;
    this.allocator = allocator;
  }

  @Override
  public void attached(Lane attached) {
    lane = attached;
  }

  @Override
  public void connected() {
    state = State.HELLO;
    if (!late) {
      hello();
    }
  }

  /** Says hello, if it has not done so when it was connected. */
  void hello() {
    BsonDocument hello =
        new BsonDocument("hello", new BsonInt32(1))
            .append("helloOk", BsonBoolean.TRUE)
            .append("client", new BsonDocument("driver", new BsonString("simulated")));
    if (credentials == Credentials.STRICT_SCRAM) {
      hello.append("apiStrict", BsonBoolean.TRUE);
    }
    if (credentials == Credentials.SCRAM || credentials == Credentials.STRICT_SCRAM) {
      hello
          .append("saslSupportedMechs", new BsonString("admin.user"))
          .append(
              "speculativeAuthenticate",
              new BsonDocument("saslStart", new BsonInt32(1))
                  .append("mechanism", new BsonString("SCRAM-SHA-256"))
                  .append("payload", payload("n,,n=user,"))
                  .append("db", new BsonString("admin")));
    } else if (credentials == Credentials.X509) {
      hello.append("speculativeAuthenticate", x509().append("db", new BsonString("$external")));
    }
    send(OpMsg.command(hello));
  }

  /** An ordinary request. */
  void request(String command, String requestTag, BsonDocument options) {
    state = State.WAITING;
    tag = requestTag;
    BsonDocument body = new BsonDocument(command, new BsonInt32(1));
    body.putAll(options);
    send(OpMsg.command(body.append("tag", new BsonString(requestTag))));
  }

  /** A request without a reply. */
  void unacknowledged() {
    unacknowledged(
        new BsonDocument("insert", new BsonString("c")).append("documents", new BsonArray()));
  }

  /** A request without a reply that may take long. */
  void slowUnacknowledged() {
    unacknowledged(BsonDocument.parse("{update: 'c', updates: [{q: {}, u: {}, multi: true}]}"));
  }

  private void unacknowledged(BsonDocument command) {
    OpMsg message = OpMsg.command(command.append("tag", new BsonString("-")));
    send(new OpMsg(0, 0, OpMsg.MORE_TO_COME, message.body(), message.sequences()));
  }

  boolean hasUnsent() {
    return turnedAway != null;
  }

  void close() {
    if (state != State.CLOSED) {
      state = State.CLOSED;
      drop();
      if (lane != null) {
        lane.close();
      }
    }
  }

  @Override
  public void connectFailed(Throwable cause) {
    state = State.BROKEN;
    closeQuietly();
  }

  @Override
  public void fail(PipelineException cause) {
    assertThat(state).isNotIn(State.CLOSED, State.BROKEN);
    failure = cause;
    state = State.BROKEN;
    closeQuietly();
  }

  private void closeQuietly() {
    drop();
    if (lane != null) {
      lane.close();
    }
  }

  @Override
  public void mayWrite() {
    ByteBuf again = turnedAway;
    turnedAway = null;
    if (again != null) {
      offer(again);
    }
  }

  @Override
  public void deliver(ByteBuf reply) {
    OpMsg message = OpMsg.decode(reply);
    reply.release();
    assertThat(message.responseTo()).as("lane %s in %s", number, state).isEqualTo(lastId);
    BsonDocument body = message.body();
    switch (state) {
      case HELLO -> {
        boolean begun = body.containsKey("speculativeAuthenticate");
        switch (credentials) {
          case NONE -> state = State.IDLE;
          case SCRAM, STRICT_SCRAM -> step(begun ? "saslContinue" : "saslStart");
          case PLAIN -> step("saslStart");
          case X509 -> {
            if (begun) {
              state = State.IDLE;
            } else {
              state = State.AUTHENTICATING;
              send(OpMsg.command(x509()));
            }
          }
        }
      }
      case AUTHENTICATING -> {
        if (body.getBoolean("done", BsonBoolean.TRUE).getValue()) {
          state = State.IDLE;
        } else {
          step("saslContinue");
        }
      }
      case WAITING -> {
        assertThat(body.getString("tag").getValue()).isEqualTo(tag);
        state = State.IDLE;
        tag = null;
      }
      default -> throw new AssertionError("a reply in state " + state);
    }
  }

  private void step(String command) {
    state = State.AUTHENTICATING;
    BsonDocument body =
        new BsonDocument(command, new BsonInt32(1)).append("payload", payload("n,,n=user,"));
    if (command.equals("saslStart")) {
      boolean plain = credentials == Credentials.PLAIN;
      body.append("mechanism", new BsonString(plain ? "PLAIN" : "SCRAM-SHA-256"));
    }
    if (credentials == Credentials.STRICT_SCRAM) {
      body.append("apiStrict", BsonBoolean.TRUE);
    }
    send(OpMsg.command(body));
  }

  private static BsonDocument x509() {
    return new BsonDocument("authenticate", new BsonInt32(1))
        .append("mechanism", new BsonString("MONGODB-X509"));
  }

  private BsonBinary payload(String start) {
    return new BsonBinary((start + "r=" + number).getBytes(StandardCharsets.UTF_8));
  }

  private void send(OpMsg message) {
    // Every lane counts from 1: only the transport can tell their requests apart.
    OpMsg numbered = message.withRequestId(++lastId);
    ByteBuf bytes = allocator.buffer();
    numbered.encode(bytes);
    offer(bytes);
  }

  private void offer(ByteBuf bytes) {
    Lane sending = lane;
    if (sending == null) {
      throw new IllegalStateException("not attached");
    }
    try {
      // It may also have been broken meanwhile.
      if (!sending.offer(bytes) && !sending.isClosed()) {
        turnedAway = bytes;
        return;
      }
    } catch (PipelineException e) {
      bytes.release();
      throw new AssertionError(e);
    }
    bytes.release();
  }

  @Override
  public String toString() {
    Lane here = lane;
    return "lane %d %s, request %s on %s, pinned %s, conversation %s"
        .formatted(
            number,
            state,
            here == null || here.current == null ? null : here.current.kind,
            here == null || here.current == null ? null : here.current.socket,
            here == null ? null : here.pinned,
            here == null ? null : here.conversation);
  }

  private void drop() {
    if (turnedAway != null) {
      turnedAway.release();
      turnedAway = null;
    }
  }
}
