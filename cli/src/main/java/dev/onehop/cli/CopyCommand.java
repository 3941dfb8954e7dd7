package dev.onehop.cli;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.resync.Names;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop copy}. */
@Command(
    name = "copy",
    subcommands = {
      CopyControlCommands.Status.class,
      CopyControlCommands.Pause.class,
      CopyControlCommands.Continue.class,
      CopyControlCommands.Finish.class,
      CopyReverseCommand.class
    },
    header = "Copy a cluster to another one, even during writes and migrations.",
    description =
        "Copies a sharded cluster or a replica set to another one: collections with their options,"
            + " shard keys, zones, documents and indexes, and views. The command reads documents"
            + " from the shards directly, and writes them through the destination's mongoses. It"
            + " stores the state of the copy at the destination, in the database "
            + ClusterCopy.STATE_DATABASE
            + ". If a server or the process of the copy fails, --resume continues the copy.",
    footer = {
      "Examples:",
      "  onehop copy --from mongodb://old1,old2 --to mongodb://new1,new2",
      "  onehop copy --from mongodb://old1,old2 --to mongodb://new1,new2 --resume",
      "                    continues a copy whose process has ended",
      "  onehop copy --from mongodb://old1 --to mongodb://new1 --rename shop=shop2 \\",
      "      --filter 'shop.orders={\"year\": {\"$$gte\": 2024}}'",
      "  onehop copy --from mongodb://old1 --to mongodb://new1 \\",
      "      --only structure,full,indexes",
      "                    for a source without writes",
      "  onehop copy status --to mongodb://new1,new2",
      "  onehop copy finish --to mongodb://new1,new2",
      "                    ends the copy; first stop the writes to the source",
      "  onehop copy reverse --from mongodb://new1,new2 --to mongodb://old1,old2",
      "                    copies later changes back, so that you can return to the old cluster",
      "",
      "Exit code: 0 = done, 1 = failed, 2 = the command line was wrong, 130 = interrupted",
      "(--resume continues)."
    })
final class CopyCommand extends CopyingCommand {

  private static final Set<CopyPhase> PHASES =
      EnumSet.of(CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.INDEXES, CopyPhase.INCREMENTAL);

  @Option(
      names = "--overwrite",
      description =
          "Drop the job and the destination's collections that this copy writes, then start again.")
  private boolean overwrite;

  @Option(
      names = "--ignore-space",
      description = "Start even if the destination's disks seem to be too small.")
  private boolean ignoreSpace;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "PHASE",
      description =
          "The phases to run: structure, full, indexes, incremental. Default: all. The phase"
              + " incremental ends only with onehop copy finish.")
  private List<String> only = new ArrayList<>();

  @Option(
      names = "--operations",
      split = ",",
      paramLabel = "KIND",
      description = "The kinds of changes to apply: insert, update, delete, ddl. Default: all.")
  private List<String> operations = new ArrayList<>();

  @Option(names = "--bench", description = "The same as onehop bench copy, with its arguments.")
  @SuppressWarnings("UnusedVariable") // OldSpellings reads the option
  private boolean bench;

  @Mixin private SelectionOptions selection = new SelectionOptions();

  @Mixin private Speed speed = new Speed();

  /** The speed of the copy, and the order of its documents. */
  @HelpGroup("Speed")
  static final class Speed {
    @Option(
        names = "--readers",
        paramLabel = "N",
        description =
            "The number of ranges of each shard that are read at the same time, 1 to 64. Default:"
                + " 4.")
    private int readers = 4;

    @Option(
        names = "--batch",
        paramLabel = "N",
        description = "The number of documents in a batch, 1 to 100000. Default: 1000.")
    private int batch = 1_000;

    @Option(
        names = "--rate",
        paramLabel = "N",
        description = "The most documents to read per second, over all shards.")
    private @Nullable Double rate;

    @Option(
        names = "--bytes-rate",
        paramLabel = "N",
        description = "The most bytes to write per second.")
    private @Nullable Double bytesRate;

    @Option(
        names = "--order-by",
        paramLabel = "INDEX",
        description =
            "The name of an index, or its key as JSON. Collections with this index are read and"
                + " inserted in its order. Default: the order of the shard key, or of _id.")
    private @Nullable String order;

    ClusterCopy.Builder apply(ClusterCopy.Builder builder) {
      ClusterCopy.Builder changed = builder.readersPerShard(readers).batchSize(batch);
      if (order != null) {
        changed = changed.orderBy(order);
      }
      if (rate != null) {
        changed = changed.documentsPerSecond(rate);
      }
      return bytesRate == null ? changed : changed.bytesPerSecond(bytesRate);
    }
  }

  @Override
  ClusterCopy.Builder apply(ClusterCopy.Builder given) {
    Refuse.when(resume && overwrite, "--resume and --overwrite exclude each other");
    ClusterCopy.Builder builder =
        speed
            .apply(given)
            .begin(resume ? Begin.RESUME : overwrite ? Begin.OVERWRITE : Begin.NEW)
            .include(selection.included)
            .exclude(selection.excluded)
            .phases(chosen("--only", only, CopyPhase.class, PHASES))
            .operations(
                chosen(
                    "--operations",
                    operations,
                    CopyOperation.class,
                    EnumSet.allOf(CopyOperation.class)));
    for (Map.Entry<String, String> rename : selection.renamed.entrySet()) {
      builder = builder.rename(rename.getKey(), rename.getValue());
    }
    for (Map.Entry<String, BsonDocument> filter : selection.filters().entrySet()) {
      builder = builder.filter(filter.getKey(), filter.getValue());
    }
    return ignoreSpace ? builder.ignoreSpace() : builder;
  }

  /** The values that an option names, in lower case; all values if it names none. */
  private static <E extends Enum<E>> Set<E> chosen(
      String option, List<String> names, Class<E> type, Set<E> all) {
    Set<E> chosen = EnumSet.noneOf(type);
    for (String name : names) {
      Function<E, String> label = each -> each.name().toLowerCase(Locale.ROOT);
      chosen.add(Names.find(name, all, label, option + " takes %s, not '%s'"));
    }
    return names.isEmpty() ? all : chosen;
  }
}
