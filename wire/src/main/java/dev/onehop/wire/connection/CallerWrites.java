package dev.onehop.wire.connection;

import dev.onehop.wire.channel.CallerWritesChannel;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests to a socket on the sending threads, in the order of sending. While one thread
 * writes, the requests of other threads are queued. The writing thread then writes them in one
 * system call. Bytes that the socket does not accept are left to its event loop.
 *
 * <p>Thread-safe. No call waits for another thread or for the socket.
 *
 * @param <R> the type of requests
 */
final class CallerWrites<R> {
  private final CallerWritesChannel socket;
  private final Function<R, @Nullable ByteBuf> encode;
  private final Consumer<IOException> broken;
  private final Queue<R> queue = new ConcurrentLinkedQueue<>();
  // The number of requests that are queued or being written, plus one during a hold. The thread
  // that changes it from 0 writes the requests.
  private final AtomicInteger due = new AtomicInteger();
  // The number of messages that the event loop has not written yet.
  private final AtomicInteger onEventLoop = new AtomicInteger();

  /**
   * @param encode returns the message to write, which this object releases; null to write nothing.
   *     Called in the order of the requests, by one thread at a time
   * @param broken receives the reason if the socket cannot be written to
   */
  CallerWrites(
      CallerWritesChannel socket,
      Function<R, @Nullable ByteBuf> encode,
      Consumer<IOException> broken) {
    this.socket = socket;
    this.encode = encode;
    this.broken = broken;
  }

  void send(R request) {
    if (due.compareAndSet(0, 1)) {
      if (!queue.isEmpty()) {
        // Another thread has queued a request and has not counted it yet. That request is first.
        queue.add(request);
        writeQueued(0);
        return;
      }
      try {
        ByteBuf message = encode.apply(request);
        if (message != null) {
          write(message);
        }
      } catch (Throwable failure) {
        // The cause may be a stack overflow in the application. Possibly only a part of the message
        // was written, so the connection is unusable now.
        broken.accept(new IOException("a request could not be written", failure));
        throw failure;
      } finally {
        writeQueued(1);
      }
      return;
    }
    queue.add(request);
    if (due.getAndIncrement() == 0) {
      writeQueued(0);
    }
  }

  /**
   * Queues requests until {@link #release}, so that they are written together.
   *
   * @return false if a thread is writing; requests are then written without a hold
   */
  boolean hold() {
    return due.compareAndSet(0, 1);
  }

  /** Writes the requests that were queued during the hold. */
  void release() {
    writeQueued(1);
  }

  /**
   * Writes the queued requests.
   *
   * @param done the number of requests in {@link #due} that are written already
   */
  private void writeQueued(int done) {
    for (int left = due.addAndGet(-done); left > 0; left = due.addAndGet(-left)) {
      List<ByteBuf> messages = new ArrayList<>(left);
      for (int n = 0; n < left; n++) {
        // A request is added to the queue before it is counted, so the queue contains it.
        ByteBuf message = encode.apply(Objects.requireNonNull(queue.poll()));
        if (message != null) {
          messages.add(message);
        }
      }
      write(messages);
    }
  }

  private void write(ByteBuf message) {
    if (message.nioBufferCount() != 1) {
      write(List.of(message));
      return;
    }
    if (onEventLoop.get() > 0) {
      writeOnEventLoop(message);
      return;
    }
    try {
      message.skipBytes(
          socket.writeNow(message.nioBuffer(message.readerIndex(), message.readableBytes())));
    } catch (IOException e) {
      message.release();
      broken.accept(e);
      return;
    }
    leave(message);
  }

  private void write(List<ByteBuf> messages) {
    if (onEventLoop.get() > 0) {
      messages.forEach(this::writeOnEventLoop);
      return;
    }
    List<ByteBuffer> buffers = new ArrayList<>(messages.size());
    messages.forEach(message -> Collections.addAll(buffers, message.nioBuffers()));
    long written;
    try {
      written = socket.writeNow(buffers.toArray(ByteBuffer[]::new));
    } catch (IOException e) {
      messages.forEach(ByteBuf::release);
      broken.accept(e);
      return;
    }
    for (ByteBuf message : messages) {
      int part = (int) Math.min(written, message.readableBytes());
      written -= part;
      message.skipBytes(part);
      leave(message);
    }
  }

  /** Leaves the rest of a message to the event loop. */
  private void leave(ByteBuf message) {
    if (message.isReadable()) {
      writeOnEventLoop(message);
    } else {
      message.release();
    }
  }

  private void writeOnEventLoop(ByteBuf message) {
    onEventLoop.incrementAndGet();
    try {
      // Always as a task, even on the event loop itself, so that earlier messages are written
      // first.
      socket
          .eventLoop()
          .execute(
              () ->
                  socket
                      .writeAndFlush(message)
                      .addListener(written -> onEventLoop.decrementAndGet()));
    } catch (RejectedExecutionException e) {
      message.release();
      broken.accept(new IOException("the client is closed", e));
    }
  }
}
