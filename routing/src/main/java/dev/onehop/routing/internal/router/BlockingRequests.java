package dev.onehop.routing.internal.router;

import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.shards.request.ForwardedCommand;
import dev.onehop.shards.request.LocalCommands;
import dev.onehop.shards.request.RequestLoop;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.BlockingConnection;
import dev.onehop.wire.connection.BlockingPool;
import dev.onehop.wire.connection.Cancellation;
import dev.onehop.wire.connection.Exchange;
import dev.onehop.wire.connection.ServerRefusedException;
import dev.onehop.wire.connection.TimeLimit;
import dev.onehop.wire.message.CommandHead;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Serves the requests of one blocking connection on the client's thread that reads the reply. This
 * thread decides the route, writes to the server's socket and reads from it. Other threads do the
 * rest, such as loading a routing table, and this thread waits for them.
 *
 * <p>A request starts only when the client reads the reply, because the client's timeout is known
 * only then.
 *
 * <p>Thread-safe. One thread at a time has the turn, which is a lock. Other threads wait for the
 * turn, or queue a task for the thread that has it.
 */
final class BlockingRequests
    implements RequestLoop.Turns, RequestLoop.Replies, ForwardedCommand.Carrier {
  /**
   * Heap buffers, because plain sockets need arrays. The garbage collector frees buffers that are
   * not released.
   */
  static final ByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false, true);

  private static final int MAX_REQUEST_BYTES = 64_000_000;
  private static final int FIRST_BYTES = 4096;
  private static final int MOST_KEPT_BYTES = 64 * 1024;
  private static final int OP_CODE_AT = 12;
  private static final int FLAGS_AT = 16;

  private final BlockingPool pool;
  private final RequestLoop requests;
  private final Consumer<BlockingRequests> whenClosed;
  private final Cancellation abort = new Cancellation();
  private final ReentrantLock turn = new ReentrantLock();
  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
  // Used by the thread that has the turn.
  private final Queue<ByteBuf> unserved = new ArrayDeque<>(1);
  private final Queue<ByteBuf> replies = new ArrayDeque<>(1);
  private @Nullable ByteBuf written;
  private @Nullable UnderWay underWay;
  private @Nullable IOException broken;
  private ByteBuf incoming = ALLOCATOR.buffer(FIRST_BYTES);
  private boolean ended;

  private volatile boolean closed;
  private volatile boolean clientClosed;

  /**
   * The request in progress. The thread that has the {@link #turn} sends it and reads its reply.
   */
  private static final class UnderWay {
    private final ServerAddressName server;
    private final ByteBuf message;
    private final Exchange.Outcome outcome;
    private @Nullable BlockingConnection connection;

    UnderWay(ServerAddressName server, ByteBuf message, Exchange.Outcome outcome) {
      this.server = server;
      this.message = message;
      this.outcome = outcome;
    }
  }

  /**
   * @param whenClosed called once, when this object is closed
   */
  BlockingRequests(
      CommandRouter router,
      LocalCommands local,
      CommandMeter meter,
      BlockingPool pool,
      Consumer<BlockingRequests> whenClosed) {
    this.pool = pool;
    this.whenClosed = whenClosed;
    this.requests = new RequestLoop(router, local, this, ALLOCATOR, this, meter);
    requests.opened();
  }

  /**
   * Receives bytes of requests. An unacknowledged request starts as soon as the earlier requests
   * are done.
   */
  void write(byte[] bytes, int offset, int length) throws IOException {
    turn.lock();
    try {
      check();
      ByteBuf message = written == null ? ALLOCATOR.buffer(Math.max(length, 512)) : written;
      written = message;
      message.writeBytes(bytes, offset, length);
      while (written != null && written.readableBytes() >= 4) {
        int size = written.getIntLE(written.readerIndex());
        if (size <= FLAGS_AT || size > MAX_REQUEST_BYTES) {
          throw new IOException("a request has an invalid length of " + size + " bytes");
        }
        if (written.readableBytes() < size) {
          written.ensureWritable(size - written.readableBytes());
          return;
        }
        ByteBuf whole = written;
        written = null;
        if (whole.readableBytes() > size) {
          written = ALLOCATOR.buffer(whole.readableBytes() - size);
          written.writeBytes(whole, whole.readerIndex() + size, whole.readableBytes() - size);
          whole.writerIndex(whole.readerIndex() + size);
        }
        unserved.add(whole);
        if (!expectsReply(whole)) {
          serveAll();
        }
      }
    } finally {
      turn.unlock();
      afterTurn();
    }
  }

  private static boolean expectsReply(ByteBuf frame) {
    int start = frame.readerIndex();
    return frame.getIntLE(start + OP_CODE_AT) != OpMsg.OP_MSG
        || frame.readableBytes() < FLAGS_AT + 4
        || (frame.getIntLE(start + FLAGS_AT) & OpMsg.MORE_TO_COME) == 0;
  }

  private void serveAll() throws IOException {
    while (!unserved.isEmpty()) {
      while (requests.isBusy()) {
        goOn(TimeLimit.NONE);
      }
      requests.add(unserved.remove());
    }
  }

  /**
   * Reads bytes of a reply into an array. If there is no reply yet, the calling thread first
   * executes the request.
   *
   * @param timeoutMillis the longest wait in milliseconds, 0 for no limit
   * @return the number of bytes, at least 1
   * @throws SocketTimeoutException after the timeout; as with a socket, the caller may read again
   */
  int read(byte[] bytes, int offset, int length, int timeoutMillis) throws IOException {
    turn.lock();
    try {
      TimeLimit limit = TimeLimit.ofMillis(timeoutMillis);
      while (true) {
        check();
        ByteBuf reply = replies.peek();
        if (reply != null) {
          return take(reply, bytes, offset, length);
        }
        if (!requests.isBusy() && !unserved.isEmpty()) {
          requests.add(unserved.remove());
        } else {
          goOn(limit);
        }
      }
    } finally {
      turn.unlock();
      afterTurn();
    }
  }

  private void check() throws IOException {
    if (closed) {
      throw new SocketException("Socket closed");
    }
    if (broken != null) {
      throw broken;
    }
  }

  private int take(ByteBuf answer, byte[] bytes, int offset, int length) {
    int taken = Math.min(length, answer.readableBytes());
    answer.readBytes(bytes, offset, taken);
    if (!answer.isReadable()) {
      replies.remove().release();
    }
    return taken;
  }

  /**
   * Sends the current request to its server and reads the reply. If there is no such request yet,
   * runs a task that another thread has queued.
   */
  private void goOn(TimeLimit limit) throws IOException {
    if (underWay != null) {
      carry(underWay, limit);
    } else {
      Runnable task = await(limit);
      if (task == null) {
        throw TimeLimit.timedOut();
      }
      task.run();
    }
    check();
  }

  private void carry(UnderWay request, TimeLimit limit) throws IOException {
    BlockingConnection connection = request.connection;
    try {
      if (connection == null) {
        connection = pool.take(request.server, limit, abort);
        request.connection = connection;
        newIncoming();
        connection.send(request.message);
      }
      connection.receive(incoming, limit);
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException | ServerRefusedException e) {
      failed(request, e);
      return;
    }
    underWay = null;
    abort.clear();
    pool.giveBack(connection);
    request.outcome.replied(incoming);
  }

  private void newIncoming() {
    if (incoming.refCnt() > 1 || incoming.capacity() > MOST_KEPT_BYTES) {
      incoming = ALLOCATOR.buffer(FIRST_BYTES);
    }
    incoming.clear();
  }

  private void failed(UnderWay request, Exception e) throws IOException {
    if (closed) {
      throw new SocketException("Socket closed");
    }
    if (clientClosed) {
      requests.clientClosed();
      return;
    }
    if (e instanceof IOException && Thread.currentThread().isInterrupted()) {
      // On a virtual thread, Java closes a socket when its reader is interrupted, so the server's
      // socket is closed now. A plain socket of the driver would be closed, too, so this connection
      // is closed.
      close();
      InterruptedIOException interrupted = new InterruptedIOException("interrupted");
      interrupted.initCause(e);
      throw interrupted;
    }
    underWay = null;
    abort.clear();
    if (request.connection != null && e instanceof IOException) {
      pool.broken(request.connection);
    } else if (request.connection != null) {
      pool.discard(request.connection);
    } else {
      request.outcome.unsent(e);
      return;
    }
    request.outcome.failed(e);
  }

  /** Waits for a task; returns null after the time limit. */
  private @Nullable Runnable await(TimeLimit limit) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          int millis = limit.remainingMillis();
          return millis == 0 ? tasks.take() : tasks.poll(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
          if (VirtualThreads.isCurrent()) {
            close();
            throw new SocketException("Closed by interrupt");
          }
          // On a thread that is not virtual, the wait continues after an interrupt, as a read of a
          // plain socket does.
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public BooleanSupplier send(
      ServerAddressName server, ByteBuf message, CommandHead head, Exchange.Outcome outcome) {
    UnderWay request = new UnderWay(server, message, outcome);
    underWay = request;
    return () -> cancel(request);
  }

  private boolean cancel(UnderWay request) {
    if (underWay != request) {
      return false;
    }
    underWay = null;
    abort.clear();
    if (request.connection != null) {
      pool.discard(request.connection);
    }
    return true;
  }

  @Override
  public ForwardedCommand.Carrier carrier() {
    return this;
  }

  @Override
  public boolean run(Runnable task) {
    if (turn.isHeldByCurrentThread()) {
      task.run();
    } else {
      tasks.add(task);
      afterTurn();
    }
    return true;
  }

  @Override
  public void send(ByteBuf message) {
    replies.add(message);
  }

  @Override
  public void idle() {
    // Nothing to do: requests are added one at a time.
  }

  @Override
  public boolean lost(IOException cause) {
    broken = new IOException(cause.getMessage(), cause);
    return true;
  }

  @Override
  public void refuse(WireProtocolException why) {
    broken = new IOException(why.getMessage(), why);
  }

  /**
   * Called when the application's client is closed. The current request and later requests fail.
   */
  void clientClosed() {
    clientClosed = true;
    abort.abort();
    run(requests::clientClosed);
  }

  /** Closes the connection; the current request fails. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    abort.abort();
    tasks.add(() -> {});
    afterTurn();
  }

  /** Runs the tasks that other threads have queued, unless another thread has the turn now. */
  private void afterTurn() {
    while ((!tasks.isEmpty() || isToEnd()) && !turn.isHeldByCurrentThread() && turn.tryLock()) {
      try {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
          task.run();
        }
        if (isToEnd()) {
          end();
        }
      } finally {
        turn.unlock();
      }
    }
  }

  private boolean isToEnd() {
    return closed && !ended;
  }

  private void end() {
    ended = true;
    requests.closed();
    unserved.clear();
    whenClosed.accept(this);
  }
}
