package dev.onehop.testbed.internal.link;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection. It delivers bytes in order, each when its due time has come. As on
 * a long cable, the delay does not depend on the number of bytes in flight. When too many bytes
 * wait, the pipe stops reading from the source, to limit the memory. Only the event loop of the two
 * channels uses a pipe.
 */
final class DelayedPipe {
  /**
   * The number of waiting bytes above which the source is not read. With a one-way delay of 100 ms,
   * this limit allows 320 MB/s, far more than the tests send.
   */
  private static final int HIGH_WATER_BYTES = 32 << 20;

  private static final int LOW_WATER_BYTES = 16 << 20;

  /**
   * Timers have a resolution of 1/128 of the delay. Buffers that are due within one such step are
   * delivered together, on average at their due time. This saves one timer for each buffer.
   */
  private static final int GRAINS = 128;

  /** The ways in which a sender ends its stream. */
  enum End {
    /** The sender has finished: FIN. */
    FINISHED,
    /** The sender has closed the connection abruptly: RST. */
    RESET
  }

  private record Held(long due, @Nullable ByteBuf data, @Nullable End end) {}

  private final Channel source;
  private final Channel target;
  private final LongSupplier delayNanos;
  private final Lateness lateness;
  private final LongAdder counter;
  private final Runnable onEnd;
  private final ArrayDeque<Held> held = new ArrayDeque<>();
  private long notBefore;
  private int heldBytes;
  private long grainNanos = 1;
  private boolean timerSet;
  private long timerTime;
  private boolean ended;
  private boolean delivered;
  private boolean unflushed;

  /**
   * @param delayNanos the current one-way delay of a byte
   * @param lateness the lateness of this machine's timers
   * @param notBefore the {@link System#nanoTime} before which the pipe delivers no bytes
   * @param counter counts the bytes sent
   * @param onEnd called when the end of the stream has been delivered
   */
  DelayedPipe(
      Channel source,
      Channel target,
      LongSupplier delayNanos,
      Lateness lateness,
      long notBefore,
      LongAdder counter,
      Runnable onEnd) {
    this.source = source;
    this.target = target;
    this.delayNanos = delayNanos;
    this.lateness = lateness;
    this.notBefore = notBefore;
    this.counter = counter;
    this.onEnd = onEnd;
  }

  /** Sends a buffer. The pipe releases it. */
  void send(ByteBuf data) {
    counter.add(data.readableBytes());
    long now = System.nanoTime();
    long due = dueTime(now);
    if (held.isEmpty() && due - now <= 0 && target.isWritable()) {
      write(data);
      return;
    }
    held.add(new Held(due, data, null));
    // The capacity of a buffer counts, not the size of its data: the buffers of many small reads
    // are larger than their data.
    heldBytes += data.capacity();
    if (heldBytes >= HIGH_WATER_BYTES) {
      source.config().setAutoRead(false);
    }
    setTimer(now);
  }

  /** Flushes the target after the last buffer of a read. */
  void flush() {
    if (unflushed) {
      unflushed = false;
      target.flush();
    }
  }

  void end(End end) {
    if (ended) {
      return;
    }
    ended = true;
    long now = System.nanoTime();
    held.add(new Held(dueTime(now), null, end));
    if (held.size() == 1) {
      drain();
    } else {
      setTimer(now);
    }
  }

  boolean isDelivered() {
    return delivered;
  }

  /** Delivers the data that is due, as long as the target is writable. */
  void drain() {
    long now = System.nanoTime();
    long early = lateness.nanos();
    @Nullable Held head;
    long soon = early + grainNanos / 2;
    while ((head = held.peek()) != null && head.due() - now <= soon && target.isWritable()) {
      held.remove();
      if (head.data() != null) {
        heldBytes -= head.data().capacity();
        write(head.data());
      } else {
        deliverEnd(head.end());
      }
    }
    flush();
    if (heldBytes <= LOW_WATER_BYTES && !ended && !source.config().isAutoRead()) {
      source.config().setAutoRead(true);
    }
    setTimer(now);
  }

  /** Discards the data in flight. */
  void discard() {
    for (Held piece : held) {
      if (piece.data() != null) {
        piece.data().release();
      }
    }
    held.clear();
    heldBytes = 0;
    ended = true;
    delivered();
  }

  private long dueTime(long now) {
    long delay = delayNanos.getAsLong();
    long due = now + delay;
    grainNanos = Math.max(1, delay / GRAINS);
    // Later bytes never overtake earlier bytes, even if the delay has become shorter in the
    // meantime.
    notBefore = due - notBefore > 0 ? due : notBefore;
    return notBefore;
  }

  private void write(ByteBuf data) {
    unflushed = true;
    var unused = target.write(data, target.voidPromise());
  }

  private void deliverEnd(@Nullable End end) {
    if (end == End.RESET) {
      reset(target);
      delivered();
      return;
    }
    unflushed = false;
    // The output is shut down after the kernel has taken the earlier bytes, because a shutdown
    // discards the bytes that wait.
    var unused =
        target
            .writeAndFlush(Unpooled.EMPTY_BUFFER)
            .addListener(
                written -> {
                  if (target instanceof DuplexChannel duplex && target.isActive()) {
                    var unusedToo = duplex.shutdownOutput();
                  }
                  delivered();
                });
  }

  private void delivered() {
    delivered = true;
    onEnd.run();
  }

  /** Closes a channel with a reset. */
  static void reset(Channel channel) {
    if (channel.isOpen()) {
      if (channel.isActive()) {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
      }
      var unused = channel.close();
    }
  }

  private void setTimer(long now) {
    @Nullable Held head = held.peek();
    // If the target is not writable, drain() is called when it becomes writable again.
    if (head != null && !timerSet && target.isWritable()) {
      timerSet = true;
      long wanted = head.due() - lateness.nanos();
      long onGrain = wanted + grainNanos / 2;
      onGrain -= Math.floorMod(onGrain, grainNanos);
      long wait = Math.max(0, onGrain - now);
      timerTime = now + wait;
      var unused = source.eventLoop().schedule(this::onTimer, wait, TimeUnit.NANOSECONDS);
    }
  }

  private void onTimer() {
    timerSet = false;
    lateness.add(System.nanoTime() - timerTime);
    drain();
  }
}
