package dev.onehop.cli;

import dev.onehop.copy.ClusterCopy;
import picocli.CommandLine.Command;

/** {@code onehop copy reverse}. */
@Command(
    name = "reverse",
    header = "Copy changes back after a finished copy.",
    description = {
      "After onehop copy finish, the application uses the new cluster. This command copies later"
          + " changes from the new cluster to the old one, so that you can return to the old one."
          + " It does no full copy and drops no collections. After copy finish, nothing else may"
          + " write to the old cluster. The command runs until onehop copy finish --to OLD.",
      "The collections and their names are taken from the finished job. A job with a filter or with"
          + " selected operations can't be reversed."
    },
    footer = {
      "Examples:",
      "  onehop copy reverse --from mongodb://new1,new2 --to mongodb://old1,old2",
      "  onehop copy reverse --from ... --to ... --resume",
      "                             continues a copy whose process has ended",
      "  onehop copy status --to mongodb://old1,old2",
      "  onehop copy finish --to mongodb://old1,old2",
      "                             ends the copy; first stop the writes to the new cluster",
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
