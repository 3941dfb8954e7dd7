package dev.onehop.testbed.evidence;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The processor time that the parts of a testbed have used since their start, by the operating
 * system. A part is null if its time is unknown, as for servers elsewhere.
 *
 * @param routers of all routers together; zero if there are none
 * @param mongods of all config servers and shard members together
 * @param links of this process, which runs the links
 */
public record CpuTimes(
    @Nullable Duration routers, @Nullable Duration mongods, @Nullable Duration links) {}
