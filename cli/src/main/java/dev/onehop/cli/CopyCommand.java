package dev.onehop.cli;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.bson.BsonDocument;
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
      CopyControlCommands.Finish.class,
      CopyReverseCommand.class
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
      "                             goes on after the process has ended",
      "  onehop copy --from ... --to ... --include shop --exclude shop.sessions \\",
      "      --rename shop=shop2 --filter 'shop.orders={\"year\": {\"$$gte\": 2024}}'",
      "  onehop copy --from ... --to ... --only structure,full,indexes",
      "                             if nothing writes to the source",
      "  onehop copy finish --to mongodb://new1,new2",
      "                             ends it, once the writes to the source have been stopped",
      "  onehop copy reverse --from mongodb://new1,new2 --to mongodb://old1,old2",
      "                             carries back what has changed since, so that one can go back",
      "  ONEHOP_FROM_PASSWORD=... ONEHOP_TO_PASSWORD=... onehop copy \\",
      "      --from 'mongodb://user@old/?tls=true' --to 'mongodb://user@new/?tls=true'",
      "  onehop copy --bench --quick",
      "                             measures it on clusters of its own",
      "",
      "Exit code: 0 done, 1 it can't begin or go on, 2 the command line was wrong, 130 interrupted",
      "(--resume goes on)."
    })
final class CopyCommand implements Callable<Integer> {

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

  @Mixin SelectionOptions selection = new SelectionOptions();

  @Option(
      names = "--operations",
      split = ",",
      paramLabel = "KIND",
      description =
          "insert, update, delete, ddl: which changes of the source are applied. Default: all.")
  private List<String> operations = new ArrayList<>();

  @Option(
      names = "--order-by",
      paramLabel = "INDEX",
      description =
          "Read, and so insert, the documents of collections that have this index in its order: its"
              + " name, or its key as JSON. Default: the shard key, or _id.")
  private @Nullable String order;

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

  @Mixin CopyRunOptions running = new CopyRunOptions();

  @Mixin CopyBenchOptions bench = new CopyBenchOptions();

  @Mixin private ResultsOptions results = new ResultsOptions();

  @Override
  public Integer call() {
    if (bench.isWanted()) {
      return bench.run(results);
    }
    try (ClusterCopy copy = copy()) {
      running.run(copy, spec.commandLine().getOut(), results.json);
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
    try {
      ClusterCopy.Builder builder =
          running
              .builder(source, destination)
              .job(job)
              .begin(resume ? Begin.RESUME : overwrite ? Begin.OVERWRITE : Begin.NEW)
              .include(selection.included)
              .exclude(selection.excluded)
              .readersPerShard(readers)
              .batchSize(batch);
      builder = builder.phases(phases()).operations(operations());
      if (order != null) {
        builder = builder.orderBy(order);
      }
      if (rate != null) {
        builder = builder.documentsPerSecond(rate);
      }
      if (bytesRate != null) {
        builder = builder.bytesPerSecond(bytesRate);
      }
      for (Map.Entry<String, String> rename : selection.renamed.entrySet()) {
        builder = builder.rename(rename.getKey(), rename.getValue());
      }
      for (Map.Entry<String, BsonDocument> filter : selection.filters().entrySet()) {
        builder = builder.filter(filter.getKey(), filter.getValue());
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
}
