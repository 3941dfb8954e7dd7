package dev.onehop.wire.channel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Several threads use one {@link CallerRunsEventLoop}. Its tasks change a counter without
 * synchronization, which is safe only if one task runs at a time.
 */
public final class CallerRunsEventLoopRaces {
  /**
   * The carrier has ended, so the actors' threads run all tasks before the arbiter reads the
   * counter.
   */
  private static final EventLoop CARRIER = new DefaultEventLoop();

  static {
    CARRIER.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private CallerRunsEventLoopRaces() {}

  /** Two threads call {@code run} while a third thread calls {@code execute}. */
  @JCStressTest
  @Outcome(id = "6", expect = ACCEPTABLE, desc = "each task ran, one at a time")
  @Outcome(expect = FORBIDDEN, desc = "a task was lost, or two ran at a time")
  @State
  public static class RunAndExecute {
    private final CallerRunsEventLoop loop = new CallerRunsEventLoop(CARRIER);
    private int counted;

    private void count() {
      counted++;
    }

    @Actor
    public void runs() {
      loop.run(this::count);
      loop.run(this::count);
    }

    @Actor
    public void runsToo() {
      loop.run(this::count);
      loop.run(this::count);
    }

    @Actor
    public void queues() {
      loop.execute(this::count);
      loop.execute(this::count);
    }

    @Arbiter
    public void look(I_Result result) {
      result.r1 = counted;
    }
  }
}
