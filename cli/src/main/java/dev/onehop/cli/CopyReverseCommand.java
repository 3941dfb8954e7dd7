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
          + " changes of the destination to the old source, so that you can return to the old"
          + " source. It does no full copy and drops no collections. There must be no writes to the"
          + " old source after copy finish. The command runs until onehop copy finish --to OLD. It"
          + " takes its collections and names from the finished job, and refuses a job with a"
          + " filter.",
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
      "Exit code: 0 = done, 1 = failed, 2 = the command line was wrong, 130 = interrupted",
      "(--resume continues)."
    })
final class CopyReverseCommand extends CopyingCommand {
  @Override
  ClusterCopy.Builder apply(ClusterCopy.Builder builder) {
    return builder.reverse().begin(resume ? ClusterCopy.Begin.RESUME : ClusterCopy.Begin.NEW);
  }
}
