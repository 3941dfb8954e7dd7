package dev.onehop.wire;

import java.time.Duration;

/**
 * Lets real time pass in a test whose subject is time: a fault that lasts, load during an interval,
 * writers with a rate, a slow scripted server, or an interval in which nothing happens. A test that
 * waits for an event awaits the event instead. No other class of the tests sleeps.
 */
public final class RealTime {
  private RealTime() {}

  @SuppressWarnings("ThreadSleep") // See above.
  public static void pass(Duration time) throws InterruptedException {
    Thread.sleep(time.toMillis());
  }
}
