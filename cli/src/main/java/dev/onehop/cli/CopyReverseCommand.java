package dev.onehop.cli;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.resync.Failure;
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
          + " changes of the destination to the old source, so that you can return to it. It copies"
          + " and drops no collections. There must be no writes to the old source after copy"
          + " finish. It runs until onehop copy finish --to OLD. It uses the selection and the"
          + " names of the finished job. It refuses a job with a filter.",
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
      "                             ends it, after the writes to the new cluster were stopped",
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
          "The cluster that the application uses now: the destination of the finished copy. A"
              + " user's password comes from ONEHOP_FROM_PASSWORD.")
  private String from;

  @Option(
      names = "--to",
      required = true,
      paramLabel = "OLD",
      description =
          "The source of the finished copy. A user's password comes from ONEHOP_TO_PASSWORD.")
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
    try {
      return running
          .builder(from, to)
          .job(job)
          .reverse()
          .begin(resume ? ClusterCopy.Begin.RESUME : ClusterCopy.Begin.NEW)
          .build();
    } catch (IllegalArgumentException e) {
      throw Failure.usage(Failure.firstLine(e));
    }
  }
}
