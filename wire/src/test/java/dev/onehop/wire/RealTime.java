package dev.onehop.wire;

import java.time.Duration;

/**
 * Real time that has to pass, because it is what a test is about: a fault that lasts, load that
 * goes on meanwhile, writers with a pace, a scripted server that takes its time, or that nothing
 * happens for a while. What a test waits for is awaited by its event instead. No other class of the
 * tests sleeps.
 */
public final class RealTime {
  private RealTime() {}

  @SuppressWarnings("ThreadSleep") // See above.
  public static void pass(Duration time) throws InterruptedException {
    Thread.sleep(time.toMillis());
  }
}
