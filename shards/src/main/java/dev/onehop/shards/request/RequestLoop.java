package dev.onehop.shards.request;

import com.mongodb.MongoException;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.channel.CallerRunsEventLoop;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.PoolWaitException;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/**
 * Executes the requests of one client connection one at a time, as mongos does. Used by one thread
 * at a time: the thread of an event loop, or the client's thread.
 */
public final class RequestLoop {
  // Not measured: commands that continue or end another command, and commands whose latency users
  // do not need.
  private static final Set<String> NOT_MEASURED =
      Set.of("getMore", "killCursors", "ping", "endSessions", "refreshSessions");

  private static final Logger log = LoggerFactory.getLogger(RequestLoop.class);
  private static final int FLAGS_AT = 16;

  private final CommandRouter router;
  private final LocalCommands local;
  private final Turns turns;
  private final ByteBufAllocator allocator;
  private final Replies replies;
  private final @Nullable RequestMeter meter;
  private final Queue<ByteBuf> waiting = new ArrayDeque<>(2);
  private int waitingBytes;
  private @Nullable Disposable running;
  private @Nullable CommandTrace measured;
  private boolean busy;
  private boolean looping;
  private boolean closed;
  private boolean clientClosed;

  /** Makes the forwarded request fail; null if no request is being forwarded. */
  private @Nullable Consumer<Throwable> forwarding;

  private int replyId;
  // The current request. If the outcome of an earlier request arrives now, it is dropped.
  private @Nullable Head current;

  /**
   * The fields of a request that a reply needs. They are known even if the request cannot be
   * decoded.
   */
  private static final class Head {
    private final int requestId;
    private final boolean expectsReply;
    private final boolean retryable;

    Head(ByteBuf frame) {
      int start = frame.readerIndex();
      boolean flagged = frame.readableBytes() >= FLAGS_AT + 4;
      this.requestId = frame.getIntLE(start + 4);
      this.expectsReply = !flagged || (frame.getIntLE(start + FLAGS_AT) & OpMsg.MORE_TO_COME) == 0;
      this.retryable = false;
    }

    Head(OpMsg request) {
      this.requestId = request.requestId();
      this.expectsReply = request.expectsReply();
      this.retryable = request.body().containsKey("txnNumber");
    }
  }

  /** Runs the tasks of a loop one at a time, and supplies the sockets for its requests. */
  public interface Turns {
    /**
     * Runs a task when no other thread uses the loop. If the current thread uses the loop, runs the
     * task at once. Any thread may call this method.
     *
     * @return false if the task does not run because the connection is closed
     */
    boolean run(Runnable task);

    /** The carrier of forwarded commands. It may call the methods for the outcome on any thread. */
    ForwardedCommand.Carrier carrier();

    /**
     * Serves all requests on one event loop. They are forwarded over the sockets of this event
     * loop, if it has any.
     */
    static Turns on(EventLoop loop, CommandRouter router) {
      ForwardedCommand.Carrier carrier =
          router.carrierOn(loop instanceof CallerRunsEventLoop ? null : loop);
      return new Turns() {
        @Override
        public boolean run(Runnable task) {
          return EventLoops.run(loop, task);
        }

        @Override
        public ForwardedCommand.Carrier carrier() {
          return carrier;
        }
      };
    }
  }

  /** Receives the replies. Called by the thread that uses the loop. */
  public interface Replies {
    /** Sends a whole message and releases it. */
    void send(ByteBuf message);

    /** Called when all requests so far have a reply. */
    void idle();

    /**
     * Called when the connection to the server broke. Closes the client's connection, too, so that
     * the client's driver handles a network error.
     *
     * @return false if the client should receive an error reply instead
     */
    default boolean lost(IOException cause) {
      return false;
    }

    /** Called when the client uses an unsupported protocol. */
    void refuse(WireProtocolException why);
  }

  /**
   * @param meter measures the commands, null if they are not measured
   */
  public RequestLoop(
      CommandRouter router,
      LocalCommands local,
      Turns turns,
      ByteBufAllocator allocator,
      Replies replies,
      @Nullable RequestMeter meter) {
    this.router = router;
    this.local = local;
    this.turns = turns;
    this.allocator = allocator;
    this.replies = replies;
    this.meter = meter;
  }

  public void opened() {
    local.connectionOpened();
  }

  /**
   * Called when the client's connection is closed. The requests of this connection are abandoned.
   */
  public void closed() {
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

  /**
   * Called when the application's client is closed. Current and later requests fail, with an error
   * that the driver does not retry.
   */
  public void clientClosed() {
    clientClosed = true;
    if (forwarding != null) {
      forwarding.accept(closedClient());
    } else if (current != null) {
      Head head = current;
      if (running != null) {
        running.dispose();
      }
      failed(head, closedClient());
    }
  }

  private static CommandFailure closedClient() {
    return new CommandFailure(ErrorCodes.INTERRUPTED, "Interrupted", "the client is closed");
  }

  /** The size of the waiting requests, in bytes. */
  public int waitingBytes() {
    return waitingBytes;
  }

  /** Whether a request is being served. */
  public boolean isBusy() {
    return busy;
  }

  /** Adds a request, which the loop releases. */
  public void add(ByteBuf frame) {
    if (closed) {
      frame.release();
      return;
    }
    waiting.add(frame);
    waitingBytes += frame.readableBytes();
    next();
  }

  private void next() {
    if (looping) {
      // The reply came while the loop below served the request, so the loop below continues with
      // the next request. A recursive call here would need a stack frame per request.
      return;
    }
    looping = true;
    try {
      while (!busy && !closed) {
        ByteBuf frame = waiting.poll();
        if (frame == null) {
          replies.idle();
          if (waiting.isEmpty()) {
            return;
          }
          continue;
        }
        waitingBytes -= frame.readableBytes();
        busy = true;
        serve(frame);
      }
    } finally {
      looping = false;
    }
  }

  private void serve(ByteBuf frame) {
    if (clientClosed) {
      current = new Head(frame);
      frame.release();
      failed(current, closedClient());
      return;
    }
    measured =
        meter == null || LegacyHello.is(frame)
            ? null
            : meter.begin(frame.getIntLE(frame.readerIndex() + 4));
    if (!forward(frame)) {
      try {
        serveInFull(frame, Mono.empty(), false);
      } finally {
        frame.release();
      }
    }
  }

  /**
   * Forwards a request without decoding it, if possible. Releases the frame only if it returns
   * true.
   */
  private boolean forward(ByteBuf frame) {
    ForwardOutcome outcome = new ForwardOutcome(frame);
    current = outcome.head;
    ForwardedCommand forwarded;
    try {
      forwarded = router.tryForward(frame, turns.carrier(), outcome);
    } catch (Throwable failure) {
      outcome.failed(failure);
      return true;
    }
    if (forwarded == null) {
      return false;
    }
    local.countForwarded(forwarded.name());
    if (!outcome.ended) {
      running =
          () -> {
            if (forwarded.cancel().getAsBoolean()) {
              frame.release();
            }
          };
      forwarding =
          failure -> {
            if (forwarded.cancel().getAsBoolean()) {
              outcome.failed(failure);
            }
          };
    }
    return true;
  }

  private void serveInFull(ByteBuf frame, Mono<Void> first, boolean broken) {
    current = new Head(frame);
    try {
      if (LegacyHello.is(frame)) {
        ByteBuf reply = allocator.buffer();
        BsonDocument outage = outage();
        LegacyHello.reply(frame, ++replyId, outage == null ? local.hello() : outage, reply);
        replies.send(reply);
        done();
        return;
      }
      serveInFull(OpMsg.decode(frame.duplicate()), first, broken);
    } catch (WireProtocolException e) {
      if (current != null && OpMsg.is(frame)) {
        failed(current, e);
      } else {
        replies.refuse(e);
      }
    } catch (Throwable failure) {
      if (current != null) {
        failed(current, failure);
      }
    }
  }

  /**
   * @param first the execution starts after this has completed
   * @param broken whether the request was sent before and its connection broke
   */
  private void serveInFull(OpMsg request, Mono<Void> first, boolean broken) {
    Head head = new Head(request);
    current = head;
    BsonDocument outage = LocalCommands.isHello(request.commandName()) ? outage() : null;
    Mono<BsonDocument> answer = outage == null ? local.answer(request) : Mono.just(outage);
    if (answer != null
        || NOT_MEASURED.contains(request.commandName())
        || !router.isMeasured(request.commandName())) {
      measured = null;
    }
    Disposable subscribed =
        first
            .then(answer != null ? answer : execute(request))
            .contextWrite(broken ? DriverRetries::afterBreak : Function.identity())
            .switchIfEmpty(
                Mono.error(
                    () ->
                        new IllegalStateException(
                            "the command " + request.commandName() + " has no reply")))
            .subscribe(
                reply -> turns.run(() -> finish(head, reply)),
                failure -> turns.run(() -> failed(head, failure)),
                null,
                LateErrors.to(onErrorDropped(head)));
    if (current == head) {
      running = subscribed;
    }
  }

  /**
   * The error reply to a handshake if no server can be reached; null if a server can be reached.
   * After this error, the driver waits for a server. The reply has the label of a network error, so
   * the driver may retry a write if it opened this connection for the write.
   */
  private @Nullable BsonDocument outage() {
    String outage = router.outage();
    return outage == null
        ? null
        : CommandFailure.toReply(
            new CommandFailure(
                ErrorCodes.HOST_UNREACHABLE,
                "HostUnreachable",
                outage,
                List.of("RetryableWriteError")),
            false);
  }

  /**
   * Handles errors that Reactor considers fatal, such as a stack overflow, because Reactor does not
   * emit them to the subscriber.
   */
  private Consumer<Throwable> onErrorDropped(Head head) {
    return failure -> {
      if (Exceptions.isJvmFatal(failure)) {
        turns.run(() -> failed(head, failure));
      } else {
        log.debug("an error after the end of the command", failure);
      }
    };
  }

  private Mono<BsonDocument> execute(OpMsg request) {
    Mono<BsonDocument> executed = router.execute(request);
    CommandTrace command = measured;
    if (command == null) {
      return executed;
    }
    command.is(request.commandName(), namespace(request));
    return executed.contextWrite(command::into);
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

  private void failed(Head head, Throwable failure) {
    BsonDocument reply = CommandFailure.toReply(failure, head.retryable);
    if (current != head) {
      return;
    }
    measured(reply);
    IOException broken = brokenConnection(failure);
    if (head.expectsReply && broken != null && replies.lost(broken)) {
      done();
    } else {
      finish(head, reply);
    }
  }

  /**
   * The error of a broken connection to a server. After such an error, the driver's connection is
   * closed, too. Null if the driver receives an error reply instead. When its connection closes,
   * the driver clears its whole pool, which is used for all servers. The driver's connection
   * therefore stays open if only this one server cannot be reached.
   */
  private @Nullable IOException brokenConnection(Throwable failure) {
    Throwable cause = failure instanceof CommandFailure ? failure.getCause() : failure;
    boolean unreachable =
        cause instanceof NotSentException unsent && !unsent.isLocal() && router.outage() == null;
    return cause instanceof IOException broken
            && !unreachable
            && !(cause instanceof PoolWaitException)
            && !(cause instanceof ProtocolException)
        ? broken
        : null;
  }

  private void finish(Head head, BsonDocument reply) {
    if (current != head) {
      return;
    }
    current = null;
    try {
      measured(reply);
      answer(head, reply);
    } catch (Throwable failure) {
      // The failure is wrapped into another exception. An unwrapped BSON error would become a reply
      // that says the client sent invalid BSON.
      answerOrClose(
          head,
          CommandFailure.toReply(
              new IllegalStateException("the reply could not be written", failure), false));
    }
    done();
  }

  private void answer(Head head, BsonDocument reply) {
    if (!head.expectsReply || closed) {
      return;
    }
    ByteBuf out = allocator.buffer(512);
    try {
      OpMsg.replyTo(head.requestId, ++replyId, reply).encode(out);
    } catch (Throwable failure) {
      out.release();
      throw failure;
    }
    replies.send(out);
  }

  private void answerOrClose(Head head, BsonDocument error) {
    try {
      answer(head, error);
    } catch (Throwable failure) {
      replies.refuse(new WireProtocolException("the reply could not be written: " + failure));
    }
  }

  private void done() {
    current = null;
    running = null;
    forwarding = null;
    busy = false;
    next();
  }

  private final class ForwardOutcome implements ForwardedCommand.Outcome {
    private final ByteBuf frame;
    private final Head head;
    private boolean ended;

    ForwardOutcome(ByteBuf frame) {
      this.frame = frame;
      this.head = new Head(frame);
    }

    /**
     * Runs the task of the first outcome when no other thread uses the loop. Drops later outcomes.
     */
    private void end(Runnable task, @Nullable ByteBuf reply) {
      if (!turns.run(() -> endNow(task, reply))) {
        // The connection is closed, so no client waits for the reply.
        frame.release();
        ReferenceCountUtil.release(reply);
      }
    }

    private void endNow(Runnable task, @Nullable ByteBuf reply) {
      if (ended) {
        ReferenceCountUtil.release(reply);
        return;
      }
      ended = true;
      try {
        task.run();
      } catch (Throwable failure) {
        RequestLoop.this.failed(head, failure);
      } finally {
        frame.release();
      }
    }

    @Override
    public CommandTrace targeting(String command, String namespace, boolean isMeasured) {
      if (measured == null || !isMeasured) {
        measured = null;
        return CommandTrace.NONE;
      }
      measured.is(command, namespace);
      return measured;
    }

    @Override
    public void replied(ByteBuf message, boolean ok) {
      ByteBuf kept = message.retain();
      end(
          () -> {
            try {
              if (ok) {
                measured(Outcome.OK, null);
              } else if (measured != null) {
                measured(OpMsg.decode(kept.duplicate()).body());
              }
            } catch (Throwable failure) {
              kept.release();
              throw failure;
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
      inFull(refused, first, false);
    }

    @Override
    public void broken() {
      inFull(false, Mono.empty(), true);
    }

    private void inFull(boolean refused, Mono<Void> first, boolean broken) {
      end(
          () -> {
            if (refused && measured != null) {
              measured.refused();
            }
            forwarding = null;
            if (clientClosed) {
              RequestLoop.this.failed(head, closedClient());
            } else if (!closed) {
              serveInFull(frame, first, broken);
            }
          },
          null);
    }

    @Override
    public void failed(Throwable cause) {
      end(() -> RequestLoop.this.failed(head, cause), null);
    }
  }
}
