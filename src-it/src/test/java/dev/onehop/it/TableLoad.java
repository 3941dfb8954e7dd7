package dev.onehop.it;

import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouteExplanation;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.time.Duration;

/**
 * An application whose heap size a test can choose. It loads one routing table, and prints the time
 * and the memory of the table. Its arguments are the connection string, the routing mode, a
 * collection in the database {@code it}, and an {@code _id}.
 */
final class TableLoad {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private TableLoad() {}

  public static void main(String[] args) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (OneHop router =
        OneHop.builder(args[0])
            .routing(RoutingMode.valueOf(args[1]))
            .meterRegistry(meters)
            .build()) {
      // Loads another table before the measurement, because the first load includes the costs of
      // the start.
      router.explain("it.first", Filters.eq(args[3]));
      long before = usedBytes();
      long start = System.nanoTime();
      // The load may take longer than an operation waits for a table, so the test repeats the call.
      RouteExplanation explained =
          await()
              .pollDelay(Duration.ZERO)
              .pollInterval(Duration.ofMillis(50))
              .atMost(TIMEOUT)
              .until(
                  () -> router.explain("it." + args[2], Filters.eq(args[3])),
                  each -> each.decision() != RouteDecision.NO_TABLE);
      long millis = (System.nanoTime() - start) / 1_000_000;
      double chunks =
          meters.get("onehop.table.chunks").tag("namespace", "it." + args[2]).gauge().value();
      System.out.printf(
          "loaded %.0f chunks, %s on %s, in %d ms, keeping %.0f bytes a chunk%n",
          chunks, args[3], explained.shards(), millis, (usedBytes() - before) / chunks);
    }
    System.exit(0);
  }

  private static long usedBytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
