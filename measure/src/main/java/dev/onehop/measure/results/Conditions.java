package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/**
 * The conditions of a point's measurement, for reviewers. A component is null if unknown.
 *
 * @param steal the share of processor time that the host gave to other machines during the
 *     measurement, from 0 to 1
 * @param runQueue the mean number of threads that ran or waited for a processor, on the whole
 *     machine
 * @param clockMegahertz the mean clock frequency of the processors, in MHz
 * @param sockets the largest number of connections of the client to servers
 * @param bytesPerOperation the bytes that passed through links per operation, in both directions,
 *     including the servers' own traffic
 * @param warmupSeconds the time of the unmeasured operations before the measurement
 * @param steady whether the rate was steady at the end of the warm-up; null if the warm-up had a
 *     fixed time
 * @param error half the width of the 95 % interval of the throughput, as a fraction of the
 *     throughput, from the means of windows of one second
 * @param windows the number of these windows
 */
public record Conditions(
    @Nullable Double steal,
    @Nullable Double runQueue,
    @Nullable Double clockMegahertz,
    @Nullable Integer sockets,
    @Nullable Double bytesPerOperation,
    @Nullable Double warmupSeconds,
    @Nullable Boolean steady,
    @Nullable Double error,
    @Nullable Integer windows) {

  /** The share of processor time that other machines took, above which a point has a mark. */
  public static final double MOST_STEAL = 0.01;

  /**
   * Whether other machines on the host took more than {@link #MOST_STEAL} of the processors' time.
   */
  public boolean isDisturbed() {
    return steal != null && steal > MOST_STEAL;
  }
}
