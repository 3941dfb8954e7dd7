package dev.onehop.cli;

import dev.onehop.measure.bench.MeasuringSession;
import dev.onehop.measure.delivery.ConsumePlan;
import dev.onehop.measure.delivery.ConsumeRun;
import dev.onehop.measure.delivery.StreamSource;
import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.report.ConsumeReport;
import dev.onehop.measure.report.ConsumeTable;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Terminal;
import dev.onehop.testbed.topology.Topology;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code onehop consume}. */
@Command(
    name = "consume",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    defaultValueProvider = OwnDefaults.class,
    sortOptions = false,
    header = "Measure how fast, how late and how rightly change events are consumed.",
    description = {
      "",
      "Starts a sharded cluster on this machine, writes rows of some 220 bytes into a collection that"
          + " is split over its shards, and reads their change events in channels, through a mongos"
          + " and from each shard itself, side by side. Every row is checked: lost, doubled, out of"
          + " order. Reads a finished backlog, then rows as they are written, then the same at a low"
          + " rate while one shard has none.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop consume                   all of it, some five minutes",
      "  onehop consume --quick           the same with fewer channels",
      "  onehop consume --drain --rows 1000000 --channels 1,8,64",
      "                                   a backlog of a million rows",
      "  onehop consume --rate 5000 --order total --channels 8 --duration 60s",
      "                                   lags at 5,000 rows a second, in the order of all events",
      "  onehop consume --idle-shard      lags while one shard has no rows",
      "  onehop consume --channels 64,128 --processes 2",
      "  ONEHOP_PASSWORD=... onehop consume --url 'mongodb://user@mongos1,mongos2/?tls=true'",
      "",
      "Exit code: 0 all rows came once and in order, 1 the run failed or rows did not,",
      "2 the command line was wrong, 130 interrupted (finished points are kept)."
    })
final class ConsumeCommand implements Callable<Integer> {

  private static final List<Integer> DEFAULT_CHANNELS = List.of(1, 4, 8, 32, 64);
  private static final List<Integer> QUICK_CHANNELS = List.of(1, 64);
  private static final int MOST_CHANNELS = 128;
  private static final long DEFAULT_ROWS = 200_000;
  private static final long QUICK_ROWS = 100_000;
  private static final long MOST_ROWS = 100_000_000;
  private static final double IDLE_RATE = 500;
  private static final double MOST_RATE = 1_000_000;
  private static final Duration MOST_TIME = Duration.ofHours(1);

  @Spec private CommandSpec spec;

  @Mixin private ClusterOptions where = new ClusterOptions();

  @Option(
      names = "--source",
      split = ",",
      paramLabel = "SOURCE",
      description = {
        "Where events are read. Default: both.",
        "mongos: the official driver's change stream through a mongos.",
        "direct: OneHop's change stream of each shard."
      })
  @Nullable List<String> sources;

  @Option(
      names = "--channels",
      split = ",",
      paramLabel = "N",
      description =
          "Into how many channels events are split, by the hash of the document key; each has its"
              + " rows one after the other. Default: 1,4,8,32,64 (--quick: 1,64).")
  @Nullable List<Integer> channels;

  @Option(
      names = "--processes",
      paramLabel = "1|2",
      description =
          "How many processes consume. Two share the channels, even and odd ones; each reads all"
              + " events and takes its own. Default: 1.")
  int processes = 1;

  @Option(
      names = "--order",
      paramLabel = "key|total",
      description =
          "In which order direct streams give events: those of each document, or all of them, as a"
              + " mongos does. Default: key; with an idle shard total.")
  @Nullable String order;

  @Option(names = "--drain", description = "Read a finished backlog.")
  boolean drain;

  @Option(names = "--live", description = "Read rows as they are written, at full speed or --rate.")
  boolean live;

  @Option(
      names = "--idle-shard",
      description =
          "The same at 500 rows a second or --rate, with rows whose hashes leave one shard without"
              + " any.")
  boolean idleShard;

  @Option(
      names = "--rate",
      paramLabel = "R",
      description = "Rows per second that are written, of --live and --idle-shard.")
  @Nullable Double rate;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "Rows of the backlog of --drain. Default: 200000 (--quick: 100000).")
  @Nullable Long rows;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      description =
          "Measured time of --live and --idle-shard. Default: 5s; with an idle shard only, 10s.")
  @Nullable Duration duration;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      defaultValue = "3s",
      description =
          "How long rows are written before that. A backlog is read once unmeasured. Default:"
              + " ${DEFAULT-VALUE}.")
  private Duration warmup;

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Option(names = "--quick", description = "Fewer channels and rows.")
  boolean quick;

  @Override
  public Integer call() {
    where.servers.check();
    Topology topology = topology();
    ConsumePlan plan = plan(topology);
    Path folder = results.folder();
    RunContext context =
        RunContext.of(
            folder,
            Home.folder(),
            Shell.commandLine(spec.commandLine().getParseResult().originalArgs()));
    boolean oneClock = topology != null && !where.servers.existing;
    MeasuringSession<ConsumeResults> session =
        new MeasuringSession<>(
            // Long enough for the optimizing compiler to help stand-in routers, too.
            where.source(topology, testbed -> testbed.longRun(true)),
            Terminal.detect(),
            (cluster, progress) -> new ConsumeRun(plan, cluster, oneClock, progress, context));
    Failure failure = session.run();
    long faults =
        results
            .end(
                folder,
                session.results(),
                failure,
                ConsumeReport::write,
                found -> found.points().isEmpty() ? "" : ConsumeTable.render(found))
            .faults();
    if (faults > 0) {
      throw Failure.run(
          faults + " rows were lost, doubled, out of order or never written; see the table", null);
    }
    return 0;
  }

  /** The topology to start; null for a cluster of the user's own. */
  @Nullable Topology topology() {
    return where.topology(spec.commandLine().getParseResult(), List.of());
  }

  /**
   * What the options ask for.
   *
   * @param topology what is started; null for a cluster of the user's own
   * @throws Failure if they contradict each other or are out of range
   */
  ConsumePlan plan(@Nullable Topology topology) {
    List<String> kinds = kinds(topology);
    if (rows != null && !kinds.contains(ConsumePoint.DRAIN)) {
      throw Failure.usage("--rows goes with --drain");
    }
    for (String option : List.of("--rate", "--duration", "--warmup")) {
      if (kinds.equals(List.of(ConsumePoint.DRAIN))
          && spec.commandLine().getParseResult().hasMatchedOption(option)) {
        throw Failure.usage(option + " and --drain exclude each other; add --live");
      }
    }
    if (rate != null && !(rate >= 1 && rate <= MOST_RATE)) {
      throw Failure.usage("--rate " + rate + ": must be from 1 to " + (long) MOST_RATE);
    }
    if (order != null && !order.equals("key") && !order.equals("total")) {
      throw Failure.usage("--order takes key or total, and not '" + order + "'");
    }
    List<StreamSource> chosenSources = sources();
    if (order != null && !chosenSources.contains(StreamSource.DIRECT)) {
      throw Failure.usage("--order is for --source direct: a mongos has one order of all events");
    }
    List<Integer> chosenChannels = channels();
    if (processes != 1 && processes != 2) {
      throw Failure.usage("--processes " + processes + ": must be 1 or 2");
    }
    if (Collections.min(chosenChannels) < processes) {
      throw Failure.usage("--processes 2 needs 2 channels or more, and not --channels 1");
    }
    return new ConsumePlan(
        kinds,
        chosenSources,
        chosenChannels,
        processes,
        "total".equals(order),
        rate,
        rate == null ? IDLE_RATE : rate,
        rows(),
        measuredTime(kinds),
        warmupTime());
  }

  private List<String> kinds(@Nullable Topology topology) {
    boolean canIdle = topology == null || topology.shards().size() > 1;
    if (idleShard && !canIdle) {
      throw Failure.usage("--idle-shard needs a topology of two shards or more");
    }
    List<String> kinds = new ArrayList<>();
    boolean all = !drain && !live && !idleShard;
    if (drain || (all && rate == null)) {
      kinds.add(ConsumePoint.DRAIN);
    }
    if (live || all) {
      kinds.add(ConsumePoint.LIVE);
    }
    if (idleShard || (all && rate == null && canIdle)) {
      kinds.add(ConsumePoint.IDLE);
    }
    return kinds;
  }

  private List<StreamSource> sources() {
    return sources == null
        ? List.of(StreamSource.values())
        : sources.stream().map(String::strip).map(StreamSource::named).distinct().toList();
  }

  private List<Integer> channels() {
    if (channels == null) {
      List<Integer> usual = quick ? QUICK_CHANNELS : DEFAULT_CHANNELS;
      return usual.stream().filter(count -> count >= processes).toList();
    }
    for (int count : channels) {
      if (count < 1 || count > MOST_CHANNELS) {
        throw Failure.usage("--channels " + count + ": must be from 1 to " + MOST_CHANNELS);
      }
    }
    return List.copyOf(new TreeSet<>(channels));
  }

  private long rows() {
    if (rows == null) {
      return quick ? QUICK_ROWS : DEFAULT_ROWS;
    }
    if (rows < 1_000 || rows > MOST_ROWS) {
      throw Failure.usage("--rows " + rows + ": must be from 1000 to " + MOST_ROWS);
    }
    return rows;
  }

  private Duration measuredTime(List<String> kinds) {
    if (duration == null) {
      return Duration.ofSeconds(kinds.equals(List.of(ConsumePoint.IDLE)) ? 10 : 5);
    }
    if (duration.compareTo(Duration.ofSeconds(1)) < 0 || duration.compareTo(MOST_TIME) > 0) {
      throw Failure.usage("--duration must be from 1s to 1h");
    }
    return duration;
  }

  private Duration warmupTime() {
    if (warmup.compareTo(MOST_TIME) > 0) {
      throw Failure.usage("--warmup must be at most 1h");
    }
    return warmup;
  }
}
