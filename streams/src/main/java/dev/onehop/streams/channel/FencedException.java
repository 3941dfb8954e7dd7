package dev.onehop.streams.channel;

/** A write was refused, since a later term of the channel has begun: it has another owner. */
public final class FencedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param channel its number
   * @param term that of the write
   */
  public FencedException(int channel, long term) {
    super("channel " + channel + " is no longer of term " + term);
  }
}
