package dev.onehop.shards.cluster;

import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The retries by the driver of a router's client. The Reactor context of a driver's command
 * contains this object. The driver retries writes that have a transaction number, and reads if its
 * settings allow it. If a context has no such object, no driver retries the command.
 *
 * @param reads whether the driver retries reads
 * @param writes whether the driver retries writes that have a transaction number
 */
public record DriverRetries(boolean reads, boolean writes) {
  private static final String BROKEN = DriverRetries.class.getName() + ".broken";
  private static final DriverRetries NONE = new DriverRetries(false, false);

  /** Adds this object to the context of a driver's command. */
  public Context into(Context context) {
    return context.put(DriverRetries.class, this);
  }

  /**
   * The context for a part of a driver's write. The driver does not retry a part, because it
   * receives one reply for all parts.
   */
  public static Context ofPart(Context context) {
    return context.hasKey(DriverRetries.class) ? NONE.into(context) : context;
  }

  /** The context for a command of OneHop itself, which may run on behalf of a driver's command. */
  static Context none(Context context) {
    return context.delete(DriverRetries.class).delete(BROKEN);
  }

  /** The context for a command that was sent before and whose connection broke. */
  public static Context afterBreak(Context context) {
    return context.put(BROKEN, 1);
  }

  /** The number of times that a command was sent and its connection broke. */
  static int broken(ContextView context) {
    return context.hasKey(BROKEN) ? context.<Integer>get(BROKEN) : 0;
  }

  /** Whether the driver, and not this code, retries a command after its connection broke. */
  public boolean afterBreak(Retryability retryability) {
    return retryability == Retryability.WRITE ? writes : reads && retryability == Retryability.READ;
  }
}
