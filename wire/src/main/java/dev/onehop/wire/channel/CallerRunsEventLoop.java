package dev.onehop.wire.channel;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An event loop without a thread: tasks run one at a time, on the calling thread or on another
 * event loop, the carrier.
 *
 * <p>{@link #run} runs a task at once on the calling thread if the loop is idle, which saves a
 * context switch. {@link #execute}, and {@link #run} while the loop is busy, leave the task to the
 * carrier: only the carrier's thread runs queued tasks.
 *
 * <p>Thread-safe. No call waits for another thread.
 */
public final class CallerRunsEventLoop extends AbstractEventExecutor implements EventLoop {
  private final EventLoop carrier;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  // The number of tasks that are queued or running. The thread that changes it from 0 to 1 runs the
  // task, or leaves it to the carrier.
  private final AtomicInteger tasks = new AtomicInteger();
  private final Runnable drain = this::drain;
  private final Promise<Void> terminated;
  private volatile @Nullable Thread running;

  /**
   * @param carrier runs the tasks that the calling thread does not run
   */
  public CallerRunsEventLoop(EventLoop carrier) {
    this(null, carrier);
  }

  CallerRunsEventLoop(@Nullable EventLoopGroup parent, EventLoop carrier) {
    super(parent);
    this.carrier = carrier;
    this.terminated = new DefaultPromise<>(carrier);
  }

  /**
   * Runs a task now if the loop is idle or the current thread already runs a task of the loop;
   * otherwise like {@link #execute}.
   */
  public void run(Runnable task) {
    if (inEventLoop()) {
      task.run();
    } else if (tasks.compareAndSet(0, 1)) {
      if (!queue.isEmpty()) {
        // Another thread has queued a task and has not counted it yet. That task must run first.
        queue.add(task);
        leaveToCarrier();
        return;
      }
      try {
        runOne(task);
      } finally {
        if (tasks.decrementAndGet() > 0) {
          leaveToCarrier();
        }
      }
    } else {
      execute(task);
    }
  }

  /** Runs a task after all tasks that were added before. */
  @Override
  public void execute(Runnable task) {
    queue.add(task);
    if (tasks.getAndIncrement() == 0) {
      leaveToCarrier();
    }
  }

  private void leaveToCarrier() {
    try {
      carrier.execute(drain);
    } catch (RejectedExecutionException ended) {
      // The carrier has ended, because the client is closed. This thread therefore runs the last
      // tasks.
      drain();
    }
  }

  /**
   * Runs the queued tasks. A task is added to the queue before it is counted, so the queue contains
   * all counted tasks.
   */
  private void drain() {
    for (int due = tasks.get(); due > 0; due = tasks.addAndGet(-due)) {
      for (int n = 0; n < due; n++) {
        runOne(Objects.requireNonNull(queue.poll()));
      }
    }
  }

  private void runOne(Runnable task) {
    running = Thread.currentThread();
    try {
      safeExecute(task);
    } finally {
      running = null;
    }
  }

  /**
   * Runs a task like {@link #run} if the calling thread is of the carrier's group, otherwise like
   * {@link #execute}.
   */
  void runOnCarriers(Runnable task) {
    if (isCalledByCarriers()) {
      run(task);
    } else {
      execute(task);
    }
  }

  private boolean isCalledByCarriers() {
    if (carrier.inEventLoop()) {
      return true;
    }
    for (EventExecutor each : carrier.parent()) {
      if (each.inEventLoop()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean inEventLoop(Thread thread) {
    return thread == running;
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    return carrier.schedule(() -> run(task), delay, unit);
  }

  /** Registers a channel. The loop ends when the channel is closed. */
  @Override
  public ChannelFuture register(ChannelPromise promise) {
    Channel channel = promise.channel();
    channel.closeFuture().addListener(closed -> terminated.trySuccess(null));
    channel.unsafe().register(this, promise);
    return promise;
  }

  @Override
  public ChannelFuture register(Channel channel) {
    return register(new DefaultChannelPromise(channel, this));
  }

  @Override
  @Deprecated
  @SuppressWarnings("InlineMeSuggester")
  public ChannelFuture register(Channel channel, ChannelPromise promise) {
    return register(promise);
  }

  @Override
  public EventLoop next() {
    return this;
  }

  @Override
  public EventLoopGroup parent() {
    return (EventLoopGroup) super.parent();
  }

  @Override
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    terminated.trySuccess(null);
    return terminated;
  }

  @Override
  @Deprecated
  public void shutdown() {
    terminated.trySuccess(null);
  }

  @Override
  public Future<?> terminationFuture() {
    return terminated;
  }

  @Override
  public boolean isShuttingDown() {
    return carrier.isShuttingDown();
  }

  @Override
  public boolean isShutdown() {
    return carrier.isShutdown();
  }

  @Override
  public boolean isTerminated() {
    return terminated.isDone();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return terminated.await(timeout, unit);
  }
}
