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

  private static final Duration MOST_TIME = Duration.ofHours(1);

  @Option(
      names = "--measure",
      split = ",",
      paramLabel = "NAME",
      description = "What to measure, as listed above, or all. Default: all.")
  @Nullable List<String> names;

  @Option(names = "--quick", description = "Fewer and smaller measurements.")
  boolean quick;

  @HelpGroup("Streams")
  @Option(
      names = "--order",
      paramLabel = "key|total",
      description =
          "The order of events in OneHop's streams: key for the events of each document, total"
              + " for all events, as with a mongos. Default: key; with an idle shard total.")
  @Nullable String order;

  @HelpGroup("Streams")
  @Option(
      names = "--processes",
      paramLabel = "N",
      description =
          "The number of processes. With consume, 1 or 2 processes that share the channels; default"
              + " 1. With propagate, the maximum for the clients of load; default 2.")
  @Nullable Integer processes;

  @HelpGroup("Rows")
  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      description =
          "The time of live, idle-shard and load, after a warm-up. Default: 5s; idle-shard alone"
              + " 10s; load with --quick 2s.")
  @Nullable Duration duration;

  @HelpGroup("Cluster")
  @Option(
      names = "--noop",
      paramLabel = "SECONDS",
      description =
          "How often an idle server writes a no-op, in seconds. The stream of a mongos waits for"
              + " these writes. MongoDB's default is 10, for config servers 1. Default:"
              + " consume 10, propagate 1.")
  @Nullable Integer noop;

  /**
   * Checks the options that these commands share.
   *
   * @throws Failure if an option is out of range, or options contradict each other
   */
  void check(ClusterOptions where) {
    where.servers.check();
    new OptionRange("--noop", 1, 3_600).check(noop);
    if (noop != null && where.servers.existing) {
      throw Failure.usage(
          "--noop and --existing exclude each other: the servers are already running");
    }
    if (order != null && !order.equals("key") && !order.equals("total")) {
      throw Failure.usage("--order takes key or total, not '" + order + "'");
    }
  }

  /** Whether to run all measurements: no name is given, or the names include {@link #ALL}. */
  boolean wantsAll() {
    return names == null || names.stream().map(String::strip).anyMatch(ALL::equals);
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
    return duration == null ? usual : atMost("--duration", duration, Duration.ofSeconds(1));
  }

  /**
   * Checks the time of an option. At most an hour is allowed.
   *
   * @throws Failure if the time is out of range
   */
  static Duration atMost(String option, Duration time, Duration least) {
    if (time.compareTo(least) < 0 || time.compareTo(MOST_TIME) > 0) {
      throw Failure.usage(option + " must be " + (least.isZero() ? "at most 1h" : "from 1s to 1h"));
    }
    return time;
  }
}
