package dev.onehop.ycsb;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClients;
import dev.onehop.ycsb.LauncherArguments.Command;
import java.io.ByteArrayInputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import site.ycsb.Client;
import site.ycsb.CommandLine;
import site.ycsb.DB;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * Runs YCSB with a reliable exit code.
 *
 * <p>YCSB itself always exits with 0. This main class exits with 2 if the command line is invalid.
 * It exits with 1 if the cluster cannot be used, the run was interrupted or an operation failed. In
 * these cases it writes one line to stderr. After success it exits with 0. {@code bin/ycsb} calls
 * it, for example, with {@code load -db CLASS [YCSB's options]}.
 */
public final class Launcher {
  private static final int USAGE = 2;
  private static final int FAILURE = 1;
  private static final int REACHABLE_WITHIN_SECONDS = 10;

  private Launcher() {}

  /** Runs YCSB with the arguments of a command line. */
  public static void main(String[] args) {
    LauncherArguments arguments;
    Optional<BindingOptions> options;
    OpenLoopOptions openLoop;
    try {
      arguments = LauncherArguments.parse(Arrays.asList(args));
      options =
          isOurs(arguments)
              ? Optional.of(BindingOptions.of(arguments.properties()))
              : Optional.empty();
      openLoop = options.isPresent() ? OpenLoopOptions.of(arguments.properties()) : null;
      var unused = ClientShare.of(arguments.properties());
      if (openLoop != null && arguments.command() != Command.RUN) {
        throw new InvalidPropertyException(
            OpenLoopOptions.RATE + " is possible only with the command run");
      }
    } catch (InvalidPropertyException e) {
      exit(USAGE, Failures.oneLine(e));
      return;
    }
    if (options.isPresent()) {
      try {
        reach(options.get());
      } catch (MongoException | IllegalArgumentException e) {
        exit(FAILURE, Failures.connecting(options.get(), e));
        return;
      }
    }
    if (arguments.command() == Command.SHELL) {
      // YCSB's shell fails on an input without a final "quit".
      System.setIn(
          new SequenceInputStream(
              System.in, new ByteArrayInputStream("\nquit\n".getBytes(StandardCharsets.UTF_8))));
      CommandLine.main(arguments.forYcsb());
      System.exit(0);
    }
    if (options.isPresent()) {
      // Client.main() calls System.exit(0), so only a hook can run after it.
      Runtime.getRuntime().addShutdownHook(new Thread(Launcher::correctExitCode, "exit-code"));
    }
    if (openLoop != null) {
      try {
        run(openLoop, options.orElseThrow(), arguments);
      } catch (InvalidPropertyException e) {
        System.err.println("onehop: " + Failures.oneLine(e));
        Runtime.getRuntime().halt(USAGE);
      } catch (RuntimeException | WorkloadException e) {
        YcsbHost.failed(Failures.connecting(options.orElseThrow(), e));
      }
      System.exit(0);
    }
    Client.main(arguments.forYcsb());
  }

  /**
   * Replaces YCSB's client for an open loop: issues operations at intended times, not in the loops
   * of threads.
   */
  private static void run(
      OpenLoopOptions openLoop, BindingOptions options, LauncherArguments arguments)
      throws WorkloadException {
    Properties properties = arguments.properties();
    Measurements.setProperties(properties);
    Workload workload = create(properties.getProperty(Client.WORKLOAD_PROPERTY), Workload.class);
    workload.init(properties);
    MongoBinding binding = create(properties.getProperty(Client.DB_PROPERTY), MongoBinding.class);
    SharedStore shared =
        SharedStore.acquire(
            binding.mode(),
            options,
            () ->
                ManyStores.open(
                    openLoop.instances(), openLoop.burst(), () -> binding.open(options)));
    Tally warmup = new Tally();
    try {
      if (!options.warmup().isZero()) {
        // One thread starts the whole warm-up, so the property threadcount does not count here.
        new Warmup(shared.store(), properties, 1).run(shared.warmup(), warmup);
      }
      ShardRanges shards =
          openLoop.byShard()
              ? ShardRanges.read(
                  options,
                  properties.getProperty(
                      CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT))
              : null;
      IntendedOperations operations =
          new IntendedOperations(
              workload,
              workload.initThread(properties, 0, 1),
              new Operations(shared.store(), options.upsert()));
      shared.startTogether(ClientShare.of(properties));
      OpenLoop loop =
          new OpenLoop(
              openLoop,
              operations,
              shards,
              shared.store().isBlocking(),
              arguments.showsStatus() ? System.err : null);
      shared.totals().openLoop(loop.run(System.out));
      shared.totals().threadStarts();
      shared.totals().threadFinishes(loop.tally());
    } finally {
      shared.release(warmup);
      workload.cleanup();
    }
  }

  private static <T> T create(String className, Class<T> type) {
    try {
      return Class.forName(className).asSubclass(type).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new InvalidPropertyException("cannot use the class " + className, e);
    }
  }

  /**
   * Describes the problem of a run; empty if there was none.
   *
   * @param runs the totals of the runs of this process
   */
  static Optional<String> problemOf(Collection<RunTotals> runs) {
    if (runs.isEmpty() || !runs.stream().allMatch(RunTotals::isComplete)) {
      return Optional.of("the run was interrupted before all its threads had finished");
    }
    List<RunSummary> summaries = runs.stream().map(RunTotals::summary).toList();
    long errors = summaries.stream().mapToLong(RunSummary::errors).sum();
    long operations = summaries.stream().mapToLong(RunSummary::operations).sum();
    return errors == 0
        ? Optional.empty()
        : Optional.of("%d of %d operations failed".formatted(errors, operations));
  }

  private static void correctExitCode() {
    if (YcsbHost.hasFailed()) {
      Runtime.getRuntime().halt(FAILURE); // the failure is already reported
    }
    problemOf(RunTotals.ofProcess())
        .ifPresent(
            problem -> {
              System.out.flush();
              System.err.println("onehop: " + problem);
              Runtime.getRuntime().halt(FAILURE);
            });
  }

  /**
   * Fails if no server replies in time. Runs before YCSB prints anything, outside the measured
   * time.
   */
  private static void reach(BindingOptions options) {
    MongoClientSettings.Builder settings = MongoClientSettings.builder();
    settings.applyToClusterSettings(
        cluster -> cluster.serverSelectionTimeout(REACHABLE_WITHIN_SECONDS, TimeUnit.SECONDS));
    // The URL may set another server selection timeout.
    settings.applyConnectionString(options.url());
    options.applyTo(settings);
    try (DocumentStore store =
        new SyncStore(MongoClients.create(settings.build()), options.database())) {
      store.ping().block();
    }
  }

  private static boolean isOurs(LauncherArguments arguments) {
    String binding = arguments.properties().getProperty(Client.DB_PROPERTY, "");
    try {
      Class<?> type = Class.forName(binding, false, Launcher.class.getClassLoader());
      if (DB.class.isAssignableFrom(type)) {
        return MongoBinding.class.isAssignableFrom(type);
      }
      throw new InvalidPropertyException(binding + " is not a YCSB binding");
    } catch (ClassNotFoundException e) {
      throw new InvalidPropertyException("unknown binding class \"%s\"".formatted(binding), e);
    }
  }

  private static void exit(int code, String line) {
    System.err.println("onehop: " + line);
    System.exit(code);
  }
}
