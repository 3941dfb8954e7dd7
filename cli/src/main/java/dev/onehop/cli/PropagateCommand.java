package dev.onehop.cli;

import dev.onehop.measure.delivery.Measurement;
import dev.onehop.measure.delivery.PropagateBench;
import dev.onehop.measure.delivery.PropagatePlan;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.measure.report.Format;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.Topology;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop propagate}, and {@code onehop bench propagate}. */
@Command(
    name = "propagate",
    defaultValueProvider = OwnDefaults.class,
    header = "Measure the time until a write arrives at other applications.",
    description = {
      "Starts a sharded cluster on this machine, or uses yours. Writes objects, and measures the"
          + " time until change streams deliver them. Three streams read the objects of every test:"
          + " the official driver's through a mongos, OneHop's in arrival order, and OneHop's"
          + " sorted. OneHop reads from each shard directly. The command counts lost and doubled"
          + " objects.",
      "",
      "  client-to-client  an application writes, another application's change stream reads",
      "  mongo-to-client   the same, but another program writes through a mongos",
      "  client-to-mongo   an application writes, another program reads with read concern majority",
      "  bootstrap         a client subscribes to a query for the first time",
      "  initial-sync      all documents of a collection are delivered",
      "  load              many clients that bootstrap, write and read at once",
      "",
      "Without --measure, the command asks which measurements to run. Without a terminal, it runs"
          + " all measurements."
    },
    footer = {
      "Examples:",
      "  onehop propagate                       # asks what to measure",
      "  onehop propagate --measure client-to-client --tests 5 --documents 1000 --batch 100",
      "  onehop propagate --measure client-to-client --batch 1,10,100,1000  # a chart",
      "  onehop propagate --measure load --clients 1,4,16 --processes 2",
      "  onehop propagate --topology us-2014 --quick",
      "  ONEHOP_PASSWORD=... onehop propagate --url 'mongodb://user@mongos1,mongos2/?tls=true'"
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every object arrived once",
      "1:the run failed, or objects were lost or doubled",
      "2:the command line was wrong",
      "130:interrupted; finished measurements are kept"
    })
@HelpGroup("Rows")
final class PropagateCommand extends Subcommand {

  private static final OptionRange TESTS = new OptionRange("--tests", 1, 10_000);
  private static final OptionRange DOCUMENTS = new OptionRange("--documents", 1, 10_000_000);
  private static final OptionRange BATCH = new OptionRange("--batch", 1, 100_000);
  private static final OptionRange BYTES = new OptionRange("--bytes", 100, 1 << 20);
  private static final OptionRange CLIENTS = new OptionRange("--clients", 1, 1_000);
  private static final OptionRange PROCESSES = new OptionRange("--processes", 1, 64);
  private static final double MOST_RATE = 100_000;
  private static final Duration MOST_AWAIT = Duration.ofSeconds(60);

  /**
   * The system property that allows questions. The launcher sets it if standard input and standard
   * error are terminals.
   */
  private static final String PROMPTS = "onehop.prompts";

  @Mixin private DeliveryOptions options = new DeliveryOptions();

  @HelpGroup("Options")
  @Option(
      names = "--tests",
      paramLabel = "N",
      description =
          "The number of timed tests of each measurement, after one warm-up. Default: 5 (--quick:"
              + " 3).")
  @Nullable Integer tests;

  @Option(
      names = "--documents",
      split = ",",
      paramLabel = "N",
      description =
          "The number of objects in a test. With several numbers, the report has a chart. Default:"
              + " 1000 (--quick: 200).")
  @Nullable List<Integer> documents;

  @Option(
      names = "--batch",
      split = ",",
      paramLabel = "N",
      description =
          "The number of objects in a write. With several numbers, the report has a chart."
              + " Default: 100 (--quick: 20).")
  @Nullable List<Integer> batches;

  @Option(
      names = "--bytes",
      split = ",",
      paramLabel = "N",
      description =
          "The bytes of an object. With several numbers, the report has a chart. Default: 200.")
  @Nullable List<Integer> bytes;

  @Option(
      names = "--rate",
      paramLabel = "R",
      description =
          "The number of writes per second. Latencies count from the intended start of a write."
              + " Default: a write starts when the previous write was acknowledged.")
  @Nullable Double rate;

  @HelpGroup("Streams")
  @Option(
      names = "--await",
      paramLabel = "TIME",
      defaultValue = "1s",
      description =
          "How long a server waits for events before it returns an empty reply (the driver's"
              + " maxAwaitTime). Default: ${DEFAULT-VALUE}.")
  private Duration await;

  @Option(
      names = "--clients",
      split = ",",
      paramLabel = "N",
      description =
          "The number of clients in load. With several numbers, the report has a chart. Default:"
              + " 1,4,8 (--quick: 2).")
  @Nullable List<Integer> clients;

  @Option(
      names = "--client-rate",
      paramLabel = "R",
      description = "The writes per second of each client in load. Default: 20.")
  double clientRate = 20;

  @Mixin ClusterOptions where = new ClusterOptions();

  @Mixin private ResultsOptions results = new ResultsOptions();

  /** The answers to the questions, as options. */
  private final List<String> answers = new ArrayList<>();

  @Override
  public Integer call() {
    check();
    Topology topology = where.topology();
    ClusterSource source =
        where.source(
            topology,
            testbed ->
                testbed
                    .withWaitingStreams(true)
                    .noopSeconds(options.noop == null ? 1 : options.noop));
    if (options.names == null && Boolean.getBoolean(PROMPTS)) {
      // Reports errors before the questions.
      ResultsFolder.requireEmpty(results.out);
      ask();
    }
    boolean standInWaits = topology != null && !where.servers.existing;
    return results.run(
        new PropagateBench(plan(), standInWaits),
        source,
        results.folder(),
        results.commandLine(answers));
  }

  /** Asks for options that are missing on the command line. */
  private void ask() {
    Prompts prompts =
        new Prompts(
            new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())),
            System.err);
    List<Measurement> all = measurements();
    List<Measurement> chosen = prompts.measurements(all);
    options.names =
        chosen.equals(all)
            ? List.of(DeliveryOptions.ALL)
            : chosen.stream().map(Measurement::label).toList();
    answer("--measure", options.names);
    if (tests == null) {
      tests = prompts.number("Number of tests to run", usualTests(), 1, TESTS.most());
      answer("--tests", List.of(tests));
    }
    if (documents == null) {
      int least = batches == null ? 1 : Collections.max(batches);
      documents =
          prompts.numbers(
              "Number of objects to insert per test",
              Math.max(usualDocuments(), least),
              least,
              DOCUMENTS.most());
      answer("--documents", documents);
    }
    if (batches == null && chosen.stream().anyMatch(Measurement::isPropagation)) {
      int most = Math.min(BATCH.most(), Collections.min(documents));
      batches =
          prompts.numbers(
              "Number of objects to insert per write", Math.min(usualBatch(), most), 1, most);
      answer("--batch", batches);
    }
    System.err.println("Without questions: " + results.commandLine(answers));
  }

  private void answer(String option, List<?> values) {
    answers.add(option);
    answers.add(values.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  private int usualTests() {
    return options.quick ? 3 : 5;
  }

  private int usualDocuments() {
    return options.quick ? 200 : 1_000;
  }

  private int usualBatch() {
    return options.quick ? 20 : 100;
  }

  /** The selected measurements, by default all. */
  List<Measurement> measurements() {
    List<String> names = options.names();
    List<Measurement> named =
        names.stream()
            .filter(name -> !name.equals(DeliveryOptions.ALL))
            .map(Measurement::named)
            .toList();
    boolean all = names.isEmpty() || names.contains(DeliveryOptions.ALL);
    return all ? List.of(Measurement.values()) : named;
  }

  /**
   * Checks that options do not contradict each other and are in range.
   *
   * @throws Failure with the first error
   */
  private void check() {
    options.check(where);
    Refuse.when(
        rate != null && !(rate > 0 && rate <= MOST_RATE),
        "--rate " + rate + ": must be above 0 and up to " + (long) MOST_RATE);
    Refuse.when(
        !(clientRate > 0 && clientRate <= MOST_RATE),
        "--client-rate " + clientRate + ": must be above 0 and up to " + (long) MOST_RATE);
    Refuse.when(
        await.isZero() || await.compareTo(MOST_AWAIT) > 0, "--await must be above 0 and up to 60s");
    Refuse.options(
        !measurements().contains(Measurement.LOAD),
        spec,
        " requires --measure load",
        "--clients",
        "--client-rate",
        "--processes",
        "--duration");
    Duration unused = time();
    TESTS.check(tests);
    DOCUMENTS.check(documents);
    BATCH.check(batches);
    BYTES.check(bytes);
    CLIENTS.check(clients);
    PROCESSES.check(options.processes);
  }

  private Duration time() {
    return options.time(Duration.ofSeconds(options.quick ? 2 : 5));
  }

  /**
   * The plan that the options describe.
   *
   * @throws Failure if options contradict each other or are out of range
   */
  PropagatePlan plan() {
    check();
    List<Integer> sizes = DOCUMENTS.values(documents, List.of(usualDocuments()));
    int fewest = Collections.min(sizes);
    List<Integer> writes = BATCH.values(batches, List.of(Math.min(usualBatch(), fewest)));
    Refuse.when(
        Collections.max(writes) > fewest,
        "--batch %d: a test has only %s"
            .formatted(Collections.max(writes), Format.counted(fewest, "object")));
    return new PropagatePlan(
        measurements(),
        TESTS.value(tests, usualTests()),
        sizes,
        writes,
        BYTES.values(bytes, List.of(200)),
        rate,
        await,
        options.isTotal(),
        CLIENTS.values(clients, options.quick ? List.of(2) : List.of(1, 4, 8)),
        PROCESSES.value(options.processes, 2),
        clientRate,
        time());
  }
}
