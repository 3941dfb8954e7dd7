package dev.onehop.testbed.evidence;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The processor time that the parts of a testbed have used since their start, as the operating
 * system reports it. A component is null if its time is unknown, as for servers on other machines.
 *
 * @param routers the time of all routers together; zero if there are no routers
 * @param mongods the time of all config servers and shard members together
 * @param links the time of this process, which runs the links
 */
public record CpuTimes(
    @Nullable Duration routers, @Nullable Duration mongods, @Nullable Duration links) {}
