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

/** Threads that meet at an event loop which has none: what they count is not synchronized. */
public final class CallerRunsEventLoopRaces {
  /** Has ended, so that all that the actors leave is run by them, and the arbiter sees it. */
  private static final EventLoop CARRIER = new DefaultEventLoop();

  static {
    CARRIER.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private CallerRunsEventLoopRaces() {}

  /** Three threads, of which one queues. */
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
