package dev.onehop.cli;

import dev.onehop.copy.ClusterCopy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop copy reverse}. */
@Command(
    name = "reverse",
    sortOptions = false,
    header = "Copy changes back after a finished copy.",
    description = {
      "",
      "After onehop copy finish the application uses the destination. This command applies later"
          + " changes of the destination to the old source, so that you can return to it. It"
          + " copies and drops no collections, and the old source must have had no writes since."
          + " It runs until onehop copy finish --to OLD. The selection and the names are those in"
          + " the finished job; a job with a filter cannot be reversed.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop copy reverse --from mongodb://new1,new2 --to mongodb://old1,old2",
      "  onehop copy reverse --from ... --to ... --resume",
      "                             continues after the process has ended",
      "  onehop copy status --to mongodb://old1,old2",
      "  onehop copy finish --to mongodb://old1,old2",
      "                             ends it, once the writes to the new cluster have been stopped",
      "",
      "Exit code: 0 done, 1 failed, 2 the command line was wrong, 130 interrupted",
      "(--resume continues)."
    })
final class CopyReverseCommand extends Subcommand {
  @Option(
      names = "--from",
      required = true,
      paramLabel = "NEW",
      description =
          "The cluster of the application now: the destination of the finished copy. A user's"
              + " password comes from ONEHOP_FROM_PASSWORD.")
  private String from;

  @Option(
      names = "--to",
      required = true,
      paramLabel = "OLD",
      description = "The source of that copy; its password comes from ONEHOP_TO_PASSWORD.")
  private String to;

  @Option(
      names = "--job",
      paramLabel = "NAME",
      defaultValue = "copy",
      description =
          "The name of the finished job, and of the new job at the old source. Default:"
              + " ${DEFAULT-VALUE}.")
  private String job;

  @Option(names = "--resume", description = "Continue the job.")
  boolean resume;

  @Option(
      names = "--json",
      description = "Print the result as JSON on standard output, in place of text.")
  private boolean json;

  @Mixin CopyRunOptions running = new CopyRunOptions();

  @Override
  public Integer call() {
    running.run(this::copy, to, job, spec.commandLine().getOut(), json);
    return 0;
  }

  private ClusterCopy copy() {
    return running
        .builder(from, to)
        .job(job)
        .reverse()
        .begin(resume ? ClusterCopy.Begin.RESUME : ClusterCopy.Begin.NEW)
        .build();
  }
}
