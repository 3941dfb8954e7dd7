package dev.onehop.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import dev.onehop.cli.bench.ClusterUrl;
import dev.onehop.cli.bench.Progress;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.testbed.TrustedAuthority;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code onehop copy}. */
@Command(
    name = "copy",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    subcommands = {
      CopyControlCommands.Status.class,
      CopyControlCommands.Pause.class,
      CopyControlCommands.Continue.class,
      CopyControlCommands.Finish.class
    },
    header = "Copy a cluster to another one while it is written to and its ranges move.",
    description = {
      "",
      "Copies the collections of a sharded cluster or a replica set to another one: options, views,"
          + " shard keys, zones, documents and indexes. Documents are read from the shards"
          + " themselves and written by way of the destination's mongoses. The state is kept at the"
          + " destination, in the database "
          + ClusterCopy.STATE_DATABASE
          + ", so that a copy goes"
          + " on after its process or a server has ended.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop copy --from mongodb://old1,old2 --to mongodb://new1,new2",
      "  onehop copy --from ... --to ... --resume",
      "                             after the process was ended, by whatever",
      "  onehop copy --from ... --to ... --include shop --exclude shop.sessions \\",
      "      --rename shop=shop2 --filter 'shop.orders={\"year\": {\"$$gte\": 2024}}'",
      "  onehop copy --from ... --to ... --only structure,full,indexes",
      "                             of a source that nobody writes to",
      "  onehop copy finish --to mongodb://new1,new2",
      "                             ends it, once the writes to the source have been stopped",
      "  ONEHOP_FROM_PASSWORD=... ONEHOP_TO_PASSWORD=... onehop copy \\",
      "      --from 'mongodb://user@old/?tls=true' --to 'mongodb://user@new/?tls=true'",
      "  onehop copy --bench --quick",
      "                             measures it on clusters of its own",
      "",
      "Exit code: 0 done, 1 it can't begin or go on, 2 the command line was wrong, 130 interrupted",
      "(--resume goes on)."
    })
final class CopyCommand implements Callable<Integer> {

  private static final long REFRESH_MILLIS = 250;
  private static final long FILE_MILLIS = 1_000;
  private static final long ENDING_SECONDS = 10;

  @Spec private CommandSpec spec;

  @Option(
      names = "--from",
      paramLabel = "URL",
      description =
          "The source: the URL of its mongoses, or of a replica set. A user's password is taken"
              + " from ONEHOP_FROM_PASSWORD.")
  private @Nullable String from;

  @Option(
      names = "--to",
      paramLabel = "URL",
      description = "The destination, likewise; its password: ONEHOP_TO_PASSWORD.")
  private @Nullable String to;

  @Option(
      names = "--job",
      paramLabel = "NAME",
      defaultValue = "copy",
      description = "The name under which the state is kept. Default: ${DEFAULT-VALUE}.")
  private String job;

  @Option(names = "--resume", description = "Go on with the job.")
  boolean resume;

  @Option(
      names = "--overwrite",
      description = "Drop the job and the collections that are to be copied, and begin.")
  boolean overwrite;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "PHASE",
      description =
          "structure, full, indexes, incremental: what is done. Default: all of them, until onehop"
              + " copy finish.")
  private List<String> only = new ArrayList<>();

  @Option(
      names = {"--include", "--collections"},
      split = ",",
      paramLabel = "NAME",
      description =
          "Databases or database.collection of the source, where * stands for any characters."
              + " Default: all but the servers' own.")
  private List<String> included = new ArrayList<>();

  @Option(
      names = "--exclude",
      split = ",",
      paramLabel = "NAME",
      description = "What is not copied, even if it is included.")
  private List<String> excluded = new ArrayList<>();

  @Option(
      names = "--rename",
      split = ",",
      paramLabel = "NAME=NAME",
      description =
          "What gets another name at the destination: two databases, or two times"
              + " database.collection.")
  private Map<String, String> renamed = new HashMap<>();

  @Option(
      names = "--filter",
      paramLabel = "COLLECTION=JSON",
      description = "Which documents of a collection are copied, as a query filter.")
  private Map<String, String> filters = new HashMap<>();

  @Option(
      names = "--operations",
      split = ",",
      paramLabel = "KIND",
      description =
          "insert, update, delete, ddl: which changes of the source are applied. Default: all.")
  private List<String> operations = new ArrayList<>();

  @Option(
      names = "--readers",
      paramLabel = "N",
      defaultValue = "4",
      description =
          "How many ranges of each shard are read at the same time, 1 to 64. Default:"
              + " ${DEFAULT-VALUE}.")
  private int readers;

  @Option(
      names = "--batch",
      paramLabel = "N",
      defaultValue = "1000",
      description =
          "How many documents are read and written at once, 1 to 100000. Default:"
              + " ${DEFAULT-VALUE}.")
  private int batch;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Read so many documents per second at most, over all shards.")
  @Nullable Double rate;

  @Option(
      names = "--bytes-rate",
      paramLabel = "N",
      description = "Write so many bytes per second at most.")
  @Nullable Double bytesRate;

  @Option(
      names = "--progress-file",
      paramLabel = "FILE",
      description = "Write the progress to this file as JSON, every second.")
  @Nullable Path progressFile;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      defaultValue = "${env:ONEHOP_TLS_CA}",
      description = "PEM file of the authority to trust, where they have TLS (ONEHOP_TLS_CA).")
  @Nullable Path authority;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      defaultValue = "30s",
      description =
          "How long to wait for a server before it is tried again, or at the beginning given up."
              + " Default: ${DEFAULT-VALUE}.")
  private Duration timeout;

  @Mixin CopyBenchOptions bench = new CopyBenchOptions();

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Override
  public Integer call() {
    if (bench.isWanted()) {
      return bench.run(results);
    }
    try (ClusterCopy copy = copy()) {
      CopyProgress done = run(copy);
      PrintWriter out = spec.commandLine().getOut();
      if (results.json) {
        out.println(toJson(done));
      } else {
        print(out, done);
      }
      out.flush();
    }
    return 0;
  }

  private ClusterCopy copy() {
    String source = from;
    String destination = to;
    // Subcommands have no source, so the command line's parser can't tell.
    if (source == null || destination == null) {
      throw Failure.usage("--from and --to are needed (see onehop copy --help)");
    }
    if (resume && overwrite) {
      throw Failure.usage("--resume and --overwrite exclude each other");
    }
    if (timeout.isZero()) {
      throw Failure.usage("--timeout must be longer than 0s");
    }
    Consumer<MongoClientSettings.Builder> client = client();
    try {
      ClusterCopy.Builder builder =
          ClusterCopy.builder(
                  ClusterUrl.secret(
                      "--from",
                      source,
                      "ONEHOP_FROM_PASSWORD",
                      System.getenv("ONEHOP_FROM_PASSWORD")),
                  ClusterUrl.secret(
                      "--to",
                      destination,
                      "ONEHOP_TO_PASSWORD",
                      System.getenv("ONEHOP_TO_PASSWORD")))
              .fromSettings(client)
              .toSettings(client)
              .job(job)
              .begin(resume ? Begin.RESUME : overwrite ? Begin.OVERWRITE : Begin.NEW)
              .include(included)
              .exclude(excluded)
              .readersPerShard(readers)
              .batchSize(batch);
      builder = builder.phases(phases()).operations(operations());
      if (rate != null) {
        builder = builder.documentsPerSecond(rate);
      }
      if (bytesRate != null) {
        builder = builder.bytesPerSecond(bytesRate);
      }
      for (Map.Entry<String, String> rename : renamed.entrySet()) {
        builder = builder.rename(rename.getKey(), rename.getValue());
      }
      for (Map.Entry<String, String> filter : filters.entrySet()) {
        builder = builder.filter(filter.getKey(), ExplainCommand.filter(filter.getValue()));
      }
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw Failure.usage(Failure.firstLine(e));
    }
  }

  private Set<CopyPhase> phases() {
    if (only.isEmpty()) {
      return EnumSet.of(
          CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.INDEXES, CopyPhase.INCREMENTAL);
    }
    Set<CopyPhase> phases = EnumSet.noneOf(CopyPhase.class);
    for (String name : only) {
      phases.add(
          switch (name) {
            case "structure" -> CopyPhase.STRUCTURE;
            case "full" -> CopyPhase.FULL;
            case "indexes" -> CopyPhase.INDEXES;
            case "incremental" -> CopyPhase.INCREMENTAL;
            default ->
                throw Failure.usage(
                    "--only " + name + ": must be structure, full, indexes or incremental");
          });
    }
    return phases;
  }

  private Set<CopyOperation> operations() {
    if (operations.isEmpty()) {
      return EnumSet.allOf(CopyOperation.class);
    }
    Set<CopyOperation> wanted = EnumSet.noneOf(CopyOperation.class);
    for (String name : operations) {
      wanted.add(
          switch (name) {
            case "insert" -> CopyOperation.INSERT;
            case "update" -> CopyOperation.UPDATE;
            case "delete" -> CopyOperation.DELETE;
            case "ddl" -> CopyOperation.DDL;
            default ->
                throw Failure.usage(
                    "--operations " + name + ": must be insert, update, delete or ddl");
          });
    }
    return wanted;
  }

  private Consumer<MongoClientSettings.Builder> client() {
    TrustedAuthority trusted = authority == null ? null : TrustedAuthority.read(authority);
    return client -> {
      client
          .applicationName("onehop-copy")
          .applyToClusterSettings(
              cluster -> cluster.serverSelectionTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS));
      if (trusted != null) {
        client.applyToSslSettings(tls -> tls.context(trusted.context()));
      }
    };
  }

  private CopyProgress run(ClusterCopy copy) {
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook = new Thread(() -> end(copy, ended), "interrupted");
    Runtime.getRuntime().addShutdownHook(hook);
    try (Progress progress = Progress.start(Terminal.detect())) {
      Timer timer = new Timer("copy-progress", true);
      timer.schedule(new Shown(copy, progress), 0, REFRESH_MILLIS);
      if (progressFile != null) {
        timer.schedule(new Written(copy, progressFile), 0, FILE_MILLIS);
      }
      try {
        copy.run();
        return copy.progress();
      } finally {
        timer.cancel();
        if (progressFile != null) {
          new Written(copy, progressFile).run();
        }
      }
    } catch (InterruptedException e) {
      throw Failure.of(e);
    } catch (IllegalArgumentException e) {
      throw Failure.usage(Failure.firstLine(e));
    } catch (CopyException | MongoException | IllegalStateException e) {
      throw Failure.run(Failure.firstLine(e), e);
    } finally {
      ended.countDown();
      removeHook(hook);
    }
  }

  /** Gives the job up, so that nobody has to wait for it. */
  private static void end(ClusterCopy copy, CountDownLatch ended) {
    copy.close();
    try {
      var unused = ended.await(ENDING_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void removeHook(Thread hook) {
    try {
      var unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It is running: the process ends.
    }
  }

  /** Shows how far it is. */
  private static final class Shown extends TimerTask {
    private final ClusterCopy copy;
    private final Progress progress;
    private final Set<String> noted = new HashSet<>();
    private @Nullable CopyPhase phase;

    Shown(ClusterCopy copy, Progress progress) {
      this.copy = copy;
      this.progress = progress;
    }

    @Override
    public void run() {
      CopyProgress now = copy.progress();
      // Where it fails at the beginning, its message stands alone.
      if (now.phase() != phase && now.phase() != CopyPhase.START) {
        phase = now.phase();
        progress.phase(now.phase().name().toLowerCase(Locale.ROOT));
      }
      now.notes().stream().filter(noted::add).forEach(progress::note);
      if (now.phase() == CopyPhase.INCREMENTAL) {
        progress.state(
            String.format(
                Locale.ROOT,
                "%,d events applied | %.1f s behind%s%s",
                now.eventsApplied(),
                now.lag().toMillis() / 1000.0,
                now.consistentFrom() == null ? " | not consistent yet" : "",
                now.paused() ? " | paused" : ""));
      }
      if (now.phase() == CopyPhase.FULL) {
        progress.state(state(now));
        if (now.left() != null) {
          progress.remaining(now.left());
        }
      }
    }
  }

  private static String state(CopyProgress now) {
    return String.format(
        Locale.ROOT,
        "%,d of about %,d documents, %,.0f/s, %,.1f MB/s | range %d of %d%s",
        now.documentsDone(),
        now.documents(),
        now.documentsPerSecond(),
        now.bytesPerSecond() / 1e6,
        now.rangesDone(),
        now.ranges(),
        now.paused() ? " | paused" : "");
  }

  /** Writes how far it is to a file, which is always whole. */
  private static final class Written extends TimerTask {
    private final ClusterCopy copy;
    private final Path file;

    Written(ClusterCopy copy, Path file) {
      this.copy = copy;
      this.file = file;
    }

    @Override
    public void run() {
      Path whole = file.resolveSibling(file.getFileName() + ".new");
      try {
        Files.writeString(whole, toJson(copy.progress()) + "\n");
        Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING);
      } catch (IOException e) {
        // A copy is not to end because of it.
      }
    }
  }

  private static String toJson(CopyProgress now) {
    ObjectNode result =
        new ObjectMapper()
            .createObjectNode()
            .put("job", now.job())
            .put("phase", now.phase().name().toLowerCase(Locale.ROOT))
            .put("paused", now.paused())
            .put("collections", now.collections())
            .put("ranges", now.ranges())
            .put("rangesDone", now.rangesDone())
            .put("rangesReadAgain", now.rangesReadAgain())
            .put("documents", now.documents())
            .put("documentsDone", now.documentsDone())
            .put("bytesDone", now.bytesDone())
            .put("documentsPerSecond", now.documentsPerSecond())
            .put("bytesPerSecond", now.bytesPerSecond())
            .put("eventsApplied", now.eventsApplied())
            .put("lagSeconds", now.lag().toMillis() / 1000.0);
    Duration left = now.left();
    if (left != null) {
      result.put("secondsLeft", left.toSeconds());
    }
    ArrayNode notes = result.putArray("notes");
    now.notes().forEach(notes::add);
    return result.toString();
  }

  private static void print(PrintWriter out, CopyProgress done) {
    out.printf(Locale.ROOT, "collections  %,d%n", done.collections());
    out.printf(
        Locale.ROOT, "documents    %,d, %,.1f MB%n", done.documentsDone(), done.bytesDone() / 1e6);
    out.printf(
        Locale.ROOT,
        "ranges       %,d, %,d of them read again%n",
        done.ranges(),
        done.rangesReadAgain());
    done.notes().forEach(note -> out.println("note         " + note));
    out.println(done.phase() == CopyPhase.DONE ? "done" : "not done");
  }
}
