package dev.onehop.routing.internal.router;

import dev.onehop.routing.internal.direct.DirectRouter;
import dev.onehop.routing.internal.direct.OneShardForwarding;
import dev.onehop.routing.internal.direct.OneShardForwarding.Forwarded;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.wire.LegacyHello;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.Queue;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Works through the requests of one client connection one at a time, as mongos does. Lives on one
 * event loop.
 */
final class RequestLoop {
  private final DirectRouter router;
  private final LocalCommands local;
  private final EventLoop loop;
  private final ByteBufAllocator allocator;
  private final Replies replies;
  private final Queue<ByteBuf> waiting = new ArrayDeque<>(2);
  private int waitingBytes;
  private @Nullable Disposable running;
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

  RequestLoop(
      DirectRouter router,
      LocalCommands local,
      EventLoop loop,
      ByteBufAllocator allocator,
      Replies replies) {
    this.router = router;
    this.local = local;
    this.loop = loop;
    this.allocator = allocator;
    this.replies = replies;
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
      running = forwarded.exchange()::cancel;
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
    running =
        first
            .then(answer != null ? answer : router.execute(request))
            .onErrorResume(failure -> Mono.just(CommandFailure.toReply(failure, retryable)))
            .subscribe(reply -> onLoop(() -> finish(request, reply)));
  }

  private void finish(OpMsg request, BsonDocument reply) {
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

    @Override
    public void replied(ByteBuf message) {
      ByteBuf kept = message.retain();
      onLoop(
          () -> {
            ended = true;
            frame.release();
            if (closed) {
              kept.release();
            } else {
              replies.send(kept);
            }
            done();
          });
    }

    @Override
    public void notDone(Mono<Void> first) {
      onLoop(
          () -> {
            ended = true;
            try {
              if (!closed) {
                serveInFull(frame, first);
              }
            } finally {
              frame.release();
            }
          });
    }

    @Override
    public void failed(Throwable cause) {
      onLoop(
          () -> {
            ended = true;
            OpMsg request = OpMsg.decode(frame.duplicate());
            frame.release();
            finish(request, CommandFailure.toReply(cause, false));
          });
    }
  }
}
