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
    header = "Carry back what has changed since a copy was finished.",
    description = {
      "",
      "After onehop copy finish the application works at the destination. This applies what"
          + " changes there, from the moment of finishing on, to the old source, so that one can"
          + " go back to it. Nothing is copied or dropped: nobody may have written to the old source"
          + " since. It goes on until onehop copy finish --to OLD. Names and what is copied are as in"
          + " the job that was finished; jobs with a filter can't be reversed.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop copy reverse --from mongodb://new1,new2 --to mongodb://old1,old2",
      "  onehop copy reverse --from ... --to ... --resume",
      "                             goes on after the process has ended",
      "  onehop copy status --to mongodb://old1,old2",
      "  onehop copy finish --to mongodb://old1,old2",
      "                             ends it, once the writes to the new cluster have been stopped",
      "",
      "Exit code: 0 done, 1 it can't begin or go on, 2 the command line was wrong, 130 interrupted",
      "(--resume goes on)."
    })
final class CopyReverseCommand extends Subcommand {
  @Option(
      names = "--from",
      required = true,
      paramLabel = "NEW",
      description =
          "Where the application works now: the destination of the copy that was finished. A user's"
              + " password is taken from ONEHOP_FROM_PASSWORD.")
  private String from;

  @Option(
      names = "--to",
      required = true,
      paramLabel = "OLD",
      description = "The source of that copy; its password: ONEHOP_TO_PASSWORD.")
  private String to;

  @Option(
      names = "--job",
      paramLabel = "NAME",
      defaultValue = "copy",
      description =
          "The name of the job that was finished, and of the one that is made at the old source."
              + " Default: ${DEFAULT-VALUE}.")
  private String job;

  @Option(names = "--resume", description = "Go on with the job.")
  boolean resume;

  @Option(
      names = "--json",
      description = "Print the result as JSON on standard output, in place of text.")
  private boolean json;

  @Mixin CopyRunOptions running = new CopyRunOptions();

  @Override
  public Integer call() {
    running.run(this::copy, spec.commandLine().getOut(), json);
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
