package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * Processor time per operation in microseconds, user and system, by what used it. Each is null
 * where it is not known, as of servers on other machines.
 *
 * @param client the YCSB process
 * @param routers all routers together
 * @param mongods all config servers and shard members together
 * @param links the bench itself, in which the delays between regions are made
 */
@JsonInclude(Include.ALWAYS)
public record CpuPerOperation(
    @Nullable Double client,
    @Nullable Double routers,
    @Nullable Double mongods,
    @Nullable Double links) {

  /** All together; null if one of them is not known. */
  @JsonIgnore
  public @Nullable Double total() {
    return client == null || routers == null || mongods == null || links == null
        ? null
        : client + routers + mongods + links;
  }
}
