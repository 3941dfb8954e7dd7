package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of commands that write rows and read them with streams. */
final class DeliveryOptions {

  /** The name that selects all measurements. */
  static final String ALL = "all";

  @Option(
      names = "--measure",
      split = ",",
      paramLabel = "NAME",
      description = "The measurements to run, from the list above, or all. Default: all.")
  @Nullable List<String> names;

  @Option(names = "--quick", description = "Fewer and smaller measurements.")
  boolean quick;

  @HelpGroup("Streams")
  @Option(
      names = "--order",
      paramLabel = "key|total",
      description =
          "The order of events in OneHop's streams. With key, the events of each document are in"
              + " order. With total, all events are in one order, as with a mongos. Default: key."
              + " The measurement idle-shard always uses total.")
  @Nullable String order;

  @HelpGroup("Streams")
  @Option(
      names = "--processes",
      paramLabel = "N",
      description =
          "The number of processes. In consume, 1 or 2 processes share the channels (default: 1)."
              + " In propagate, up to N processes share the clients of load (default: 2).")
  @Nullable Integer processes;

  @HelpGroup("Rows")
  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description =
          "How long live, idle-shard and load are measured, after a warm-up. Default: 5s; 10s if"
              + " only idle-shard is measured; 2s for load with --quick.")
  @Nullable Duration duration;

  @HelpGroup("Cluster")
  @Option(
      names = "--noop",
      paramLabel = "SECONDS",
      description =
          "The interval at which an idle server writes a no-op. A mongos' change stream waits for"
              + " these writes. Default: 10 in consume, 1 in propagate. MongoDB's default: 10, but"
              + " 1 on config servers.")
  @Nullable Integer noop;

  /**
   * Checks the options that these commands share.
   *
   * @throws Failure if an option is out of range, or options contradict each other
   */
  void check(ClusterOptions where) {
    new OptionRange("--noop", 1, 3_600).check(noop);
    Refuse.when(
        noop != null && where.servers.existing,
        "--noop and --existing exclude each other: the servers are already running");
    Refuse.when(
        order != null && !order.equals("key") && !order.equals("total"),
        "--order takes key or total, not '" + order + "'");
  }

  /** The given names of measurements, without the spaces around them. */
  List<String> names() {
    return names == null ? List.of() : names.stream().map(String::strip).toList();
  }

  /** Whether OneHop's streams deliver all events in one total order. */
  boolean isTotal() {
    return "total".equals(order);
  }

  /**
   * How long a measurement runs.
   *
   * @param usual the default
   * @throws Failure if the time is out of range
   */
  Duration time(Duration usual) {
    return duration == null
        ? usual
        : OptionRange.upToAnHour("--duration", duration, Duration.ofSeconds(1));
  }
}
