package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * Processor time per operation in microseconds, user and system, by part. A part is null if
 * unknown, as for servers on other machines.
 *
 * @param client the YCSB process
 * @param routers all routers together
 * @param mongods all config servers and shard members together
 * @param links the bench itself, which makes the delays between regions
 */
@JsonInclude(Include.ALWAYS)
public record CpuPerOperation(
    @Nullable Double client,
    @Nullable Double routers,
    @Nullable Double mongods,
    @Nullable Double links) {

  /** The sum of all parts; null if one is unknown. */
  public @Nullable Double total() {
    return client == null || routers == null || mongods == null || links == null
        ? null
        : client + routers + mongods + links;
  }
}
