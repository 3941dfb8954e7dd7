package dev.onehop.cli;

import dev.onehop.copy.ClusterCopy;
import picocli.CommandLine.Command;

/** {@code onehop copy reverse}. */
@Command(
    name = "reverse",
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
final class CopyReverseCommand extends CopyingCommand {
  @Override
  ClusterCopy.Builder apply(ClusterCopy.Builder builder) {
    return builder.reverse().begin(resume ? ClusterCopy.Begin.RESUME : ClusterCopy.Begin.NEW);
  }
}
