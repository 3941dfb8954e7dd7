package dev.onehop.testbed.evidence;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The processor time that the parts of a testbed have used since they were started, by the
 * operating system's account. Each is null where it can't be told, as of servers elsewhere.
 *
 * @param routers of all routers together; zero if there are none
 * @param mongods of all config servers and shard members together
 * @param links of this process, in which the links are
 */
public record CpuTimes(
    @Nullable Duration routers, @Nullable Duration mongods, @Nullable Duration links) {}
