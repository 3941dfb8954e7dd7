package dev.onehop.shards.cluster;

import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Which commands the driver of a router's client retries by itself. The Reactor context of a
 * driver's command contains this object. The driver retries writes that have a transaction number,
 * and reads if its settings allow it. If a context has no such object, no driver retries the
 * command.
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
   * The context for a part of a driver's write. Because the driver receives one reply for all
   * parts, it cannot retry a single part. OneHop retries the part itself.
   */
  public static Context ofPart(Context context) {
    return context.hasKey(DriverRetries.class) ? NONE.into(context) : context;
  }

  /**
   * The context for a command that OneHop itself sends, even if a driver's command is the cause.
   */
  static Context none(Context context) {
    return context.delete(DriverRetries.class).delete(BROKEN);
  }

  /** The context for a command that is sent again because its connection broke. */
  public static Context afterBreak(Context context) {
    return context.put(BROKEN, 1);
  }

  /** How many times the connection broke after the command was sent. */
  static int broken(ContextView context) {
    return context.hasKey(BROKEN) ? context.<Integer>get(BROKEN) : 0;
  }

  /** Whether the driver, and not OneHop, retries a command after its connection broke. */
  public boolean afterBreak(Retryability retryability) {
    return retryability == Retryability.WRITE ? writes : reads && retryability == Retryability.READ;
  }
}
