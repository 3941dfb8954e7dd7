package dev.onehop.resync;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done.
 *
 * @param access how to be let in by the set
 * @param method how the new members get their data
 * @param source whose files are copied, as name and port; null for a hidden secondary
 * @param sourceFolder the source's data folder as it is reached from here; null if as the server
 *     says
 * @param targets the new members, one at least
 * @param allowPrimary whether the source may be the primary
 * @param rebuild whether the targets are members already, which are down
 * @param hidden whether the new members are hidden
 * @param copy the shell command that copies to another host; null if targets' folders are reached
 *     from here
 * @param start the shell command that starts a target's server; null if others start it
 * @param lockDeadline how long the source may be locked at most
 * @param patience how long a target may take to answer, and then to have caught up
 * @param limit most mebibytes per second that are read of the source; null for no limit
 * @param rate mebibytes per second that are expected; null to find out
 */
public record ResyncPlan(
    Access access,
    ResyncMethod method,
    @Nullable String source,
    @Nullable Path sourceFolder,
    List<Target> targets,
    boolean allowPrimary,
    boolean rebuild,
    boolean hidden,
    @Nullable String copy,
    @Nullable String start,
    Duration lockDeadline,
    Duration patience,
    @Nullable Double limit,
    @Nullable Double rate) {

  /** Copies the list. */
  public ResyncPlan {
    targets = List.copyOf(targets);
  }

  /** The targets' folders that are reached from here; none if they are not. */
  List<Path> folders() {
    return copy != null
        ? List.of()
        : targets.stream().map(Target::dbpath).filter(Objects::nonNull).toList();
  }

  /**
   * A command with what it is to be for a target.
   *
   * @param command with {@code {dbpath}}, {@code {host}} and {@code {port}}
   */
  static String filled(String command, Target target) {
    Path dbpath = target.dbpath();
    return command
        .replace("{dbpath}", dbpath == null ? "" : quoted(dbpath.toString()))
        .replace("{host}", target.name())
        .replace("{port}", String.valueOf(target.port()));
  }

  /** A word as a shell takes it. */
  static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  /**
   * Runs a command of the user's: without the password, which a server would keep in its
   * environment.
   */
  static ProcessBuilder process(String... command) {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("ONEHOP_PASSWORD");
    return builder;
  }
}
