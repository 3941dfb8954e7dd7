package dev.onehop.streams.channel;

/** A write was refused because the channel has another owner: a later term has started. */
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
