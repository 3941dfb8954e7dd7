package dev.onehop.shards.cluster;

import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * What the driver above a router does by itself after a failure, in the context of the driver's
 * commands: numbered writes it sends again, reads if its settings say so. Where there is none,
 * nothing is done by itself.
 *
 * @param reads whether it sends reads again
 * @param writes whether it sends numbered writes again
 */
public record DriverRetries(boolean reads, boolean writes) {
  private static final String BROKEN = DriverRetries.class.getName() + ".broken";
  private static final DriverRetries NONE = new DriverRetries(false, false);

  /** The context of a command of the driver's. */
  public Context into(Context context) {
    return context.put(DriverRetries.class, this);
  }

  /**
   * The context of a part of a driver's write: once other parts are answered, the driver is told
   * that, and sends nothing again.
   */
  public static Context ofPart(Context context) {
    return context.hasKey(DriverRetries.class) ? NONE.into(context) : context;
  }

  /** The context of a command of our own, which is of use to one of the driver's. */
  static Context none(Context context) {
    return context.delete(DriverRetries.class).delete(BROKEN);
  }

  /** The context of a command that was sent before, and whose connection broke. */
  public static Context afterBreak(Context context) {
    return context.put(BROKEN, 1);
  }

  /** How often a command was sent before. */
  static int broken(ContextView context) {
    return context.hasKey(BROKEN) ? context.<Integer>get(BROKEN) : 0;
  }

  /** Whether a command of the driver's that may be sent again is to be by it, not by us. */
  public boolean afterBreak(Retryability retryability) {
    return retryability == Retryability.WRITE ? writes : reads && retryability == Retryability.READ;
  }
}
