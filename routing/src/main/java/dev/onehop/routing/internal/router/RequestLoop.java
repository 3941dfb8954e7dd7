package dev.onehop.routing.internal.router;

import com.mongodb.MongoException;
import dev.onehop.routing.internal.direct.DirectRouter;
import dev.onehop.routing.internal.direct.OneShardForwarding;
import dev.onehop.routing.internal.direct.OneShardForwarding.Forwarded;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.metrics.Outcome;
import dev.onehop.routing.internal.router.CommandMeter.Measured;
import dev.onehop.routing.internal.wire.LegacyHello;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Works through the requests of one client connection one at a time, as mongos does. Lives on one
 * event loop.
 */
final class RequestLoop {
  // Parts of another command, or not worth it.
  private static final Set<String> NOT_MEASURED = Set.of("getMore", "killCursors", "ping");

  private final DirectRouter router;
  private final LocalCommands local;
  private final EventLoop loop;
  private final ByteBufAllocator allocator;
  private final Replies replies;
  private final @Nullable CommandMeter meter;
  private final Queue<ByteBuf> waiting = new ArrayDeque<>(2);
  private int waitingBytes;
  private @Nullable Disposable running;
  private @Nullable Measured measured;
  private boolean busy;
  private boolean closed;
  private int replyId;

  /** Where the answers go. Called on the event loop. */
  interface Replies {
    /** Sends a whole message, which is taken over. */
    void send(ByteBuf message);

    /** All requests so far are answered. */
    void idle();

    /** The client speaks no protocol of ours. */
    void refuse(WireProtocolException why);
  }

  /**
   * @param meter measures the commands, null if they are not measured
   */
  RequestLoop(
      DirectRouter router,
      LocalCommands local,
      EventLoop loop,
      ByteBufAllocator allocator,
      Replies replies,
      @Nullable CommandMeter meter) {
    this.router = router;
    this.local = local;
    this.loop = loop;
    this.allocator = allocator;
    this.replies = replies;
    this.meter = meter;
  }

  void opened() {
    local.connectionOpened();
  }

  /** The client is gone; what it asked for is given up. */
  void closed() {
    closed = true;
    local.connectionClosed();
    waiting.forEach(ByteBuf::release);
    waiting.clear();
    waitingBytes = 0;
    if (running != null) {
      running.dispose();
    }
    measured(Outcome.CANCELLED, null);
  }

  /** The size of the requests that wait until those before them are answered. */
  int waitingBytes() {
    return waitingBytes;
  }

  /** Takes over a request. */
  void add(ByteBuf frame) {
    waiting.add(frame);
    waitingBytes += frame.readableBytes();
    next();
  }

  private void next() {
    while (!busy) {
      ByteBuf frame = waiting.poll();
      if (frame == null) {
        replies.idle();
        return;
      }
      waitingBytes -= frame.readableBytes();
      busy = true;
      serve(frame);
    }
  }

  private void serve(ByteBuf frame) {
    measured =
        meter == null || LegacyHello.is(frame)
            ? null
            : meter.begin(frame.getIntLE(frame.readerIndex() + 4));
    if (!forward(frame)) {
      try {
        serveInFull(frame, Mono.empty());
      } finally {
        frame.release();
      }
    }
  }

  /** Takes over the frame if it returns true. */
  private boolean forward(ByteBuf frame) {
    ForwardOutcome outcome = new ForwardOutcome(frame);
    Forwarded forwarded = router.forwarding().tryForward(frame, loop, outcome);
    if (forwarded == null) {
      return false;
    }
    local.countForwarded(forwarded.name());
    if (!outcome.ended) {
      running =
          () -> {
            if (forwarded.exchange().cancel()) {
              frame.release();
            }
          };
    }
    return true;
  }

  private void serveInFull(ByteBuf frame, Mono<Void> first) {
    if (LegacyHello.is(frame)) {
      ByteBuf reply = allocator.buffer();
      LegacyHello.reply(frame, ++replyId, local.hello(), reply);
      replies.send(reply);
      busy = false;
      return;
    }
    OpMsg request;
    try {
      request = OpMsg.decode(frame.duplicate());
    } catch (WireProtocolException e) {
      replies.refuse(e);
      return;
    }
    Mono<BsonDocument> answer = local.answer(request);
    boolean retryable = request.body().containsKey("txnNumber");
    if (answer != null || NOT_MEASURED.contains(request.commandName())) {
      measured = null;
    }
    running =
        first
            .then(answer != null ? answer : execute(request))
            .onErrorResume(failure -> Mono.just(CommandFailure.toReply(failure, retryable)))
            .subscribe(reply -> onLoop(() -> finish(request, reply)));
  }

  private Mono<BsonDocument> execute(OpMsg request) {
    Mono<BsonDocument> executed = router.execute(request);
    Measured command = measured;
    if (command == null) {
      return executed;
    }
    command.is(request.commandName(), namespace(request));
    return executed.contextWrite(command.journey()::into);
  }

  private static String namespace(OpMsg request) {
    BsonValue collection = request.body().get(request.commandName());
    return collection != null && collection.isString()
        ? request.database() + "." + collection.asString().getValue()
        : request.database();
  }

  private void measured(Outcome outcome, @Nullable Throwable failure) {
    if (measured != null) {
      measured.end(outcome, failure);
      measured = null;
    }
  }

  private void measured(BsonDocument reply) {
    if (measured == null) {
      return;
    }
    MongoException failure = failure(reply);
    measured(failure == null ? Outcome.OK : Outcome.FAILED, failure);
  }

  private static @Nullable MongoException failure(BsonDocument reply) {
    BsonDocument error = reply;
    if (reply.isArray("writeErrors") && !reply.getArray("writeErrors").isEmpty()) {
      error = reply.getArray("writeErrors").get(0).asDocument();
    } else if (reply.isNumber("ok") && reply.getNumber("ok").intValue() == 1) {
      return null;
    }
    return new MongoException(
        error.getNumber("code", new BsonInt32(-1)).intValue(),
        error.getString("errmsg", new BsonString("")).getValue());
  }

  private void finish(OpMsg request, BsonDocument reply) {
    measured(reply);
    if (request.expectsReply() && !closed) {
      ByteBuf out = allocator.buffer(512);
      request.reply(++replyId, reply).encode(out);
      replies.send(out);
    }
    done();
  }

  private void done() {
    running = null;
    busy = false;
    next();
  }

  private void onLoop(Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }

  private final class ForwardOutcome implements OneShardForwarding.Outcome {
    private final ByteBuf frame;
    private boolean ended;

    ForwardOutcome(ByteBuf frame) {
      this.frame = frame;
    }

    private void end(Runnable task, @Nullable ByteBuf reply) {
      if (loop.inEventLoop()) {
        task.run();
        return;
      }
      try {
        loop.execute(task);
      } catch (RejectedExecutionException e) {
        // The client was closed, and its event loops with it: nobody waits any more.
        frame.release();
        if (reply != null) {
          reply.release();
        }
      }
    }

    @Override
    public void sending(String command, String namespace, String shard, ServerAddressName server) {
      if (measured != null) {
        measured.is(command, namespace);
        measured.journey().sent(shard, server);
      }
    }

    @Override
    public void replied(ByteBuf message, boolean ok) {
      ByteBuf kept = message.retain();
      end(
          () -> {
            ended = true;
            frame.release();
            if (ok) {
              measured(Outcome.OK, null);
            } else if (measured != null) {
              measured(OpMsg.decode(kept.duplicate()).body());
            }
            if (closed) {
              kept.release();
            } else {
              replies.send(kept);
            }
            done();
          },
          kept);
    }

    @Override
    public void notDone(boolean refused, Mono<Void> first) {
      end(
          () -> {
            ended = true;
            if (refused && measured != null) {
              measured.journey().refused();
            }
            try {
              if (!closed) {
                serveInFull(frame, first);
              }
            } finally {
              frame.release();
            }
          },
          null);
    }

    @Override
    public void failed(Throwable cause) {
      end(
          () -> {
            ended = true;
            OpMsg request = OpMsg.decode(frame.duplicate());
            frame.release();
            finish(request, CommandFailure.toReply(cause, false));
          },
          null);
    }
  }
}
