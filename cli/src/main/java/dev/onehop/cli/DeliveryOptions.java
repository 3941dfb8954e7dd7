package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of commands that have rows written and streams read them. */
final class DeliveryOptions {

  /** The name of all that can be measured. */
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
          "In which order OneHop's streams give events: those of each document, or all of them, as"
              + " a mongos does. Default: key; with an idle shard total.")
  @Nullable String order;

  @HelpGroup("Streams")
  @Option(
      names = "--processes",
      paramLabel = "N",
      description =
          "How many processes read: consumers that share the channels, 1 (the default) or 2; or the"
              + " clients of load at most, 2 unless given.")
  @Nullable Integer processes;

  @HelpGroup("Rows")
  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      description =
          "How long rows are written and read, after a warm-up: of live, idle-shard and load."
              + " Default: 5s; idle-shard alone 10s; load with --quick 2s.")
  @Nullable Duration duration;

  @HelpGroup("Cluster")
  @Option(
      names = "--noop",
      paramLabel = "SECONDS",
      description =
          "How often idle servers of a topology write a no-op, which a mongos' stream waits for."
              + " Servers' own default is 10, config servers' 1. Default: consume 10, propagate 1.")
  @Nullable Integer noop;

  /**
   * Checks the options that every command has.
   *
   * @throws Failure if one is out of range, or they contradict each other
   */
  void check(ClusterOptions where) {
    where.servers.check();
    new OptionRange("--noop", 1, 3_600).check(noop);
    if (noop != null && where.servers.existing) {
      throw Failure.usage("--noop and --existing exclude each other: the servers run already");
    }
    if (order != null && !order.equals("key") && !order.equals("total")) {
      throw Failure.usage("--order takes key or total, and not '" + order + "'");
    }
  }

  /** Whether OneHop's streams are in the order of all events. */
  boolean isTotal() {
    return "total".equals(order);
  }

  /**
   * How long a measurement takes.
   *
   * @param usual if that is not given
   * @throws Failure if it is out of range
   */
  Duration time(Duration usual) {
    return duration == null ? usual : atMost("--duration", duration, Duration.ofSeconds(1));
  }

  /**
   * The time of an option, of up to an hour.
   *
   * @throws Failure if it is out of range
   */
  static Duration atMost(String option, Duration time, Duration least) {
    if (time.compareTo(least) < 0 || time.compareTo(MOST_TIME) > 0) {
      throw Failure.usage(option + " must be " + (least.isZero() ? "at most 1h" : "from 1s to 1h"));
    }
    return time;
  }
}
