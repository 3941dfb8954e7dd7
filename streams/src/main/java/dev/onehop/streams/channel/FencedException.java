package dev.onehop.streams.channel;

/**
 * The channel has another owner: a later term has started. The operation with the earlier term had
 * no effect.
 */
public final class FencedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param channel the channel's number
   * @param term the term of the write
   */
  public FencedException(int channel, long term) {
    super("channel " + channel + " no longer has term " + term);
  }
}
