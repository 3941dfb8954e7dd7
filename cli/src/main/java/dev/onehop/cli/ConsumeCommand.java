package dev.onehop.cli;

import dev.onehop.measure.delivery.ConsumeBench;
import dev.onehop.measure.delivery.ConsumePlan;
import dev.onehop.measure.delivery.StreamPath;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop consume}, and {@code onehop bench consume}. */
@Command(
    name = "consume",
    defaultValueProvider = OwnDefaults.class,
    header = "Measure the speed, lag and correctness of consuming change events.",
    description = {
      "Starts a sharded cluster on this machine and writes rows of 220 bytes into a sharded"
          + " collection. Reads the change events of the rows in channels: once through a mongos,"
          + " and once from each shard directly. Counts rows that are lost, doubled or out of"
          + " order.",
      "",
      "  drain       reads after all rows were written",
      "  live        reads while rows are written, at full speed or at --rate",
      "  idle-shard  like live, at 500 rows a second or at --rate; one shard gets no rows"
    },
    footer = {
      "Examples:",
      "  onehop consume                       # everything, some five minutes",
      "  onehop consume --quick               # the same with fewer channels",
      "  onehop consume --measure drain --rows 1000000 --channels 1,8,64",
      "  onehop consume --rate 5000 --order total --channels 8 --duration 60s",
      "  onehop consume --measure idle-shard  # lags while one shard has no rows",
      "  onehop consume --channels 64,128 --processes 2",
      "  ONEHOP_PASSWORD=... onehop consume --url 'mongodb://user@mongos1,mongos2/?tls=true'"
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all rows arrived once and in order",
      "1:the run failed, or rows were lost, doubled or out of order",
      "2:the command line was wrong",
      "130:interrupted; finished points are kept"
    })
@HelpGroup("Rows")
final class ConsumeCommand extends Subcommand {

  private static final List<String> KINDS =
      List.of(ConsumePoint.DRAIN, ConsumePoint.LIVE, ConsumePoint.IDLE);
  private static final List<Integer> DEFAULT_CHANNELS = List.of(1, 4, 8, 32, 64);
  private static final List<Integer> QUICK_CHANNELS = List.of(1, 64);
  private static final OptionRange CHANNELS = new OptionRange("--channels", 1, 128);
  private static final int DEFAULT_ROWS = 200_000;
  private static final int QUICK_ROWS = 100_000;
  private static final OptionRange ROWS = new OptionRange("--rows", 1_000, 100_000_000);
  private static final double IDLE_RATE = 500;
  private static final double MOST_RATE = 1_000_000;

  @Mixin private DeliveryOptions options = new DeliveryOptions();

  @HelpGroup("Streams")
  @Option(
      names = "--source",
      split = ",",
      paramLabel = "SOURCE",
      description = {
        "The source of events. Default: both.",
        "mongos: the official driver's change stream through a mongos.",
        "direct: OneHop's change stream, which reads from each shard directly."
      })
  @Nullable List<String> sources;

  @HelpGroup("Streams")
  @Option(
      names = "--channels",
      split = ",",
      paramLabel = "N",
      description =
          "The number of channels into which events are split by the hash of the document key."
              + " Each channel delivers its rows one after the other. Default: 1,4,8,32,64"
              + " (--quick: 1,64).")
  @Nullable List<Integer> channels;

  @Option(
      names = "--rows",
      paramLabel = "N",
      description = "The number of rows that drain reads. Default: 200000 (--quick: 100000).")
  @Nullable Integer rows;

  @Option(
      names = "--rate",
      paramLabel = "R",
      description =
          "The number of rows to write per second, in the measurements live and idle-shard.")
  @Nullable Double rate;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      defaultValue = "3s",
      description =
          "How long rows are written before the measurements live and idle-shard. Default:"
              + " ${DEFAULT-VALUE}. The warm-up of drain does not depend on this option: it reads"
              + " all rows once.")
  private Duration warmup;

  @Mixin ClusterOptions where = new ClusterOptions();

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Override
  public Integer call() {
    Topology topology = where.topology();
    ConsumePlan plan = plan(topology);
    boolean oneClock = topology != null && !where.servers.existing;
    return results.run(
        new ConsumeBench(plan, oneClock),
        // In a long run, stand-in routers warm up until the optimizing compiler has compiled their
        // code.
        where.source(topology, testbed -> testbed.longRun(true).noopSeconds(options.noop)));
  }

  /**
   * The plan that the options describe.
   *
   * @param topology the topology to start; null for a cluster of the user
   * @throws Failure if options contradict each other or are out of range
   */
  ConsumePlan plan(@Nullable Topology topology) {
    options.check(where);
    List<String> kinds = kinds(topology);
    Refuse.when(
        rows != null && !kinds.contains(ConsumePoint.DRAIN), "--rows requires --measure drain");
    Refuse.options(
        kinds.equals(List.of(ConsumePoint.DRAIN)),
        spec,
        " has no effect if only drain is measured; add --measure live",
        "--rate",
        "--duration",
        "--warmup");
    Refuse.when(
        rate != null && !(rate >= 1 && rate <= MOST_RATE),
        "--rate " + rate + ": must be from 1 to " + (long) MOST_RATE);
    List<StreamPath> chosenSources = sources();
    Refuse.when(
        options.order != null && !chosenSources.contains(StreamPath.DIRECT),
        "--order applies only to --source direct: a mongos always returns events in total order");
    int processes = options.processes == null ? 1 : options.processes;
    Refuse.when(processes != 1 && processes != 2, "--processes " + processes + ": must be 1 or 2");
    List<Integer> usual = options.quick ? QUICK_CHANNELS : DEFAULT_CHANNELS;
    List<Integer> chosenChannels =
        CHANNELS.values(channels, usual.stream().filter(count -> count >= processes).toList());
    Refuse.when(
        Collections.min(chosenChannels) < processes,
        "--processes 2 needs 2 channels or more, not --channels 1");
    int usualRows = options.quick ? QUICK_ROWS : DEFAULT_ROWS;
    boolean idleAlone = kinds.equals(List.of(ConsumePoint.IDLE));
    return new ConsumePlan(
        kinds,
        chosenSources,
        chosenChannels,
        processes,
        options.isTotal(),
        rate,
        rate == null ? IDLE_RATE : rate,
        ROWS.value(rows, usualRows),
        options.time(Duration.ofSeconds(idleAlone ? 10 : 5)),
        OptionRange.upToAnHour("--warmup", warmup, Duration.ZERO));
  }

  private List<String> kinds(@Nullable Topology topology) {
    List<String> named = options.names();
    for (String name : named) {
      Refuse.when(
          !KINDS.contains(name) && !name.equals(DeliveryOptions.ALL),
          "unknown measurement '" + name + "'; measurements: " + String.join(", ", KINDS));
    }
    boolean canIdle = topology == null || topology.shards().size() > 1;
    Refuse.when(
        named.contains(ConsumePoint.IDLE) && !canIdle,
        "idle-shard needs a topology of two shards or more");
    if (named.isEmpty() && rate != null) {
      return List.of(ConsumePoint.LIVE);
    }
    boolean all = named.isEmpty() || named.contains(DeliveryOptions.ALL);
    return KINDS.stream()
        .filter(kind -> all ? canIdle || !kind.equals(ConsumePoint.IDLE) : named.contains(kind))
        .toList();
  }

  private List<StreamPath> sources() {
    return sources == null
        ? StreamPath.CONSUMED
        : sources.stream().map(String::strip).map(StreamPath::consumed).distinct().toList();
  }
}
