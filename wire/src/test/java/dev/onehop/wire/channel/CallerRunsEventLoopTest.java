package dev.onehop.wire.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.CapturedLog;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The threads on which the tasks of a {@link CallerRunsEventLoop} run. */
@Timeout(30)
class CallerRunsEventLoopTest {
  private final EventLoopGroup carriers = EventLoops.newGroup("carrier", 2);
  private final EventLoop carrier = carriers.next();
  private final CallerRunsEventLoop loop = new CallerRunsEventLoop(carrier);
  private final List<Thread> threads = Collections.synchronizedList(new ArrayList<>());

  @AfterEach
  void stop() {
    carriers.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private void recordThread() {
    threads.add(Thread.currentThread());
    assertThat(loop.inEventLoop()).isTrue();
  }

  private Thread carrierThread() throws Exception {
    return carrier.submit(Thread::currentThread).get();
  }

  @Test
  void idleLoopRunsTaskOnCallingThread() {
    loop.run(this::recordThread);

    assertThat(threads).containsExactly(Thread.currentThread());
    assertThat(loop.inEventLoop()).isFalse();
  }

  @Test
  void runsNestedTaskAtOnce() {
    loop.run(() -> loop.run(this::recordThread));

    assertThat(threads).containsExactly(Thread.currentThread());
  }

  @Test
  void executedTaskRunsOnCarrier() throws Exception {
    loop.execute(this::recordThread);

    assertThat(carrierThread()).isEqualTo(threads.get(0));
  }

  @Test
  void queuedTaskOfAnotherThreadRunsOnCarrier() throws Exception {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch queued = new CountDownLatch(1);
    Thread busy =
        new Thread(
            () ->
                loop.run(
                    () -> {
                      running.countDown();
                      awaitQuietly(queued);
                    }));
    busy.start();
    running.await();

    loop.run(this::recordThread);
    assertThat(threads).isEmpty();
    queued.countDown();
    busy.join();

    assertThat(loop.submit(() -> true).get()).isTrue();
    assertThat(threads).containsExactly(carrierThread());
  }

  @Test
  void onlyCarrierThreadsRunTasksDirectly() throws Exception {
    EventLoops.run(loop, this::recordThread);
    assertThat(loop.submit(() -> true).get()).isTrue();
    assertThat(threads).containsExactly(carrierThread());

    EventLoop other = carriers.next();
    Thread thread = other.submit(Thread::currentThread).get();
    other.submit(() -> EventLoops.run(loop, this::recordThread)).get();
    assertThat(threads).last().isEqualTo(thread);
  }

  @Test
  void runsEveryTaskOneAtATime() throws Exception {
    int[] counted = {0};
    int each = 100_000;
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      boolean caller = t % 2 == 0;
      Thread thread =
          new Thread(
              () -> {
                for (int n = 0; n < each; n++) {
                  if (caller) {
                    loop.run(() -> counted[0]++);
                  } else {
                    loop.execute(() -> counted[0]++);
                  }
                }
              });
      thread.start();
      all.add(thread);
    }
    for (Thread thread : all) {
      thread.join();
    }

    assertThat(loop.submit(() -> counted[0]).get()).isEqualTo(4 * each);
  }

  @RegisterExtension
  private final CapturedLog netty =
      new CapturedLog("io.netty.util.concurrent.AbstractEventExecutor", "planted");

  @Test
  void failedTaskLeavesLoopUsable() {
    loop.run(
        () -> {
          throw new IllegalStateException("planted");
        });
    loop.run(this::recordThread);

    assertThat(threads).hasSize(1);
    assertThat(netty.messages()).singleElement().asString().endsWith("planted");
  }

  @Test
  void callingThreadRunsTasksAfterCarrierShutdown() {
    stop();

    loop.execute(this::recordThread);
    loop.run(this::recordThread);

    assertThat(threads).containsExactly(Thread.currentThread(), Thread.currentThread());
  }

  @Test
  void scheduledTaskRunsOnCarrier() throws Exception {
    CountDownLatch ran = new CountDownLatch(1);
    loop.schedule(
        () -> {
          recordThread();
          ran.countDown();
        },
        1,
        TimeUnit.MILLISECONDS);

    ran.await();
    assertThat(threads).containsExactly(carrierThread());
  }

  /**
   * Netty keeps objects of a loop, such as a resolver of names, until the loop ends. So the loop
   * must end with its channel.
   */
  @Test
  void loopTerminatesWithItsChannel() throws Exception {
    EventLoop ofGroup = new CallerRunsEventLoops(carriers).next();
    InProcessChannel channel = new IdleChannel();
    assertThat(ofGroup.register(channel).await().isDone()).isTrue();
    assertThat(ofGroup.terminationFuture().isDone()).isFalse();

    channel.close();

    assertThat(ofGroup.terminationFuture().await(10, TimeUnit.SECONDS)).isTrue();
  }

  private static final class IdleChannel extends InProcessChannel {
    @Override
    protected boolean isCompatible(EventLoop any) {
      return true;
    }

    @Override
    protected void connect(InetSocketAddress address) {}

    @Override
    protected void take(ByteBuf message) {}

    @Override
    protected void closed() {}
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
