package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * What a reviewer wants to know of how a point was measured. Each is null where it can't be told.
 *
 * @param steal the share of processor time that the host gave to others while it was measured, from
 *     0 to 1
 * @param runQueue mean number of threads that ran or waited for a processor, on the whole machine
 * @param clockMegahertz mean clock frequency of the processors
 * @param sockets the client's connections to servers, at most
 * @param bytesPerOperation bytes that links carried per operation, both ways, servers' own traffic
 *     included
 * @param warmupSeconds how long unmeasured operations ran before
 * @param steady whether their rate had become steady by then; null if the time was fixed
 * @param error half the width of the 95 % interval of the throughput, as a fraction of it, from the
 *     means of windows of a second
 * @param windows how many windows those are
 */
@JsonInclude(Include.ALWAYS)
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

  /** A point that lost more of the processors' time than this to others is marked. */
  public static final double MOST_STEAL = 0.01;

  /** Whether others on the host took more than {@link #MOST_STEAL} of the processors' time. */
  @JsonIgnore
  public boolean isDisturbed() {
    return steal != null && steal > MOST_STEAL;
  }
}
