package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/**
 * The processor time per operation in microseconds, user and system time together. A component is
 * null if unknown, as for servers on other machines.
 *
 * @param client the time of the YCSB process
 * @param routers the time of all routers together
 * @param mongods the time of all config servers and shard members together
 * @param links the time of the bench's own process, which delays the bytes between regions
 */
public record CpuPerOperation(
    @Nullable Double client,
    @Nullable Double routers,
    @Nullable Double mongods,
    @Nullable Double links) {

  /** The sum of all components; null if one of them is unknown. */
  public @Nullable Double total() {
    return client == null || routers == null || mongods == null || links == null
        ? null
        : client + routers + mongods + links;
  }
}
