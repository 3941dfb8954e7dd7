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
  private final boolean authenticates;
  private final ByteBufAllocator allocator;
  private @Nullable Lane lane;
  private int lastId;
  private @Nullable ByteBuf turnedAway;

  SimulatedLane(int number, boolean authenticates, ByteBufAllocator allocator) {
    this.number = number;
    this.authenticates = authenticates;
    this.allocator = allocator;
  }

  @Override
  public void attached(Lane attached) {
    lane = attached;
  }

  @Override
  public void connected() {
    BsonDocument hello =
        new BsonDocument("hello", new BsonInt32(1))
            .append("helloOk", BsonBoolean.TRUE)
            .append("client", new BsonDocument("driver", new BsonString("simulated")));
    if (authenticates) {
      hello
          .append("saslSupportedMechs", new BsonString("admin.user"))
          .append(
              "speculativeAuthenticate",
              new BsonDocument("saslStart", new BsonInt32(1))
                  .append("mechanism", new BsonString("SCRAM-SHA-256"))
                  .append("payload", payload("n,,n=user,"))
                  .append("db", new BsonString("admin")));
    }
    state = State.HELLO;
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
    OpMsg insert =
        OpMsg.command(
            new BsonDocument("insert", new BsonString("c"))
                .append("documents", new BsonArray())
                .append("tag", new BsonString("-")));
    send(new OpMsg(0, 0, OpMsg.MORE_TO_COME, insert.body(), insert.sequences()));
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
        if (!authenticates) {
          state = State.IDLE;
        } else if (body.containsKey("speculativeAuthenticate")) {
          step("saslContinue");
        } else {
          step("saslStart");
        }
      }
      case AUTHENTICATING -> {
        if (body.getBoolean("done").getValue()) {
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
      body.append("mechanism", new BsonString("SCRAM-SHA-256"));
    }
    send(OpMsg.command(body));
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
      if (!sending.offer(bytes)) {
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
