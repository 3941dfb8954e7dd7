package dev.onehop.resync;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a run.
 *
 * @param url the set, with the user
 * @param method how the new members get their data
 * @param source the member whose files are copied, as name and port; null to use a hidden secondary
 * @param sourceFolder the path of the source's data folder on this host; null for the path that the
 *     server reports
 * @param targets the new members, one at least
 * @param allowPrimary whether the source may be the primary
 * @param rebuild true if the targets are members whose servers are down, and that are rebuilt;
 *     false if they are added
 * @param hidden whether the new members are hidden
 * @param copy the shell command that copies to another host; null if the targets' folders are on
 *     this host
 * @param start the shell command that starts a target's server; null if the user starts it
 * @param lockDeadline the longest time for which the source stays locked
 * @param patience the longest wait. It limits three waits separately: for a target's first reply,
 *     for the next progress of a target, and for a source to catch up
 * @param limit the largest rate of reading from the source, in mebibytes per second; null for no
 *     limit
 * @param rate the expected rate of the copy, in mebibytes per second; null to measure or assume it
 */
public record ResyncPlan(
    ClusterUrl url,
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

  public ResyncPlan {
    targets = List.copyOf(targets);
  }

  /** The targets' folders on this host; empty if a command copies to other hosts. */
  List<Path> folders() {
    return targets.stream().map(this::folder).filter(Objects::nonNull).toList();
  }

  /** A target's folder on this host; null if there is none, or a command copies to other hosts. */
  @Nullable Path folder(Target target) {
    return copy == null ? target.dbpath() : null;
  }

  /**
   * Fills the placeholders of a command for a target.
   *
   * @param command a command with {@code {dbpath}}, {@code {host}} and {@code {port}}
   */
  static String filled(String command, Target target) {
    Path dbpath = target.dbpath();
    return command
        .replace("{dbpath}", dbpath == null ? "" : quoted(dbpath.toString()))
        .replace("{host}", target.name())
        .replace("{port}", String.valueOf(target.port()));
  }

  /** Quotes a word for a shell. */
  static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  /**
   * Prepares a user's command. Removes the password from its environment, because a server would
   * keep it there.
   */
  static ProcessBuilder process(String... command) {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("ONEHOP_PASSWORD");
    return builder;
  }
}
