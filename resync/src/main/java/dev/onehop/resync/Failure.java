package dev.onehop.resync;

import com.mongodb.MongoInterruptedException;
import dev.onehop.testbed.TestbedException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** An error that ends a command: a message of one line for the user, and the exit code. */
public final class Failure extends RuntimeException {

  /** Exit code of a failed run. */
  public static final int RUN = 1;

  /** Exit code of wrong usage. */
  public static final int USAGE = 2;

  /** Exit code after Ctrl-C, as shells have it: 128 + SIGINT. */
  public static final int INTERRUPTED = 130;

  private static final Pattern TIMEOUT =
      Pattern.compile("Timed out .*Client view of cluster state is (.*)", Pattern.DOTALL);

  private static final Pattern SERVER =
      Pattern.compile("\\{address=([^,]+), type=(\\w+)(.*?)(?=, \\{address=|$)", Pattern.DOTALL);

  private static final Pattern CAUSE =
      Pattern.compile(
          "\\{(?:[\\w$]+\\.)+([\\w$]+)(?:: ((?:(?!, caused by \\{).)*))?", Pattern.DOTALL);

  private static final Pattern UNRESOLVED =
      Pattern.compile("srvResolutionException=[\\w.]+: (.*?), servers=", Pattern.DOTALL);

  // The text that follows the reason in the driver's description. It is removed.
  private static final Pattern AFTER_REASON =
      Pattern.compile("( The full response is .*|[}\\]]+$|\\R.*)", Pattern.DOTALL);

  // Jackson's description of the place of an error. Messages keep only its line and column.
  private static final Pattern PLACE =
      Pattern.compile("\\[Source: .*?; (line: \\d+, column: \\d+)]", Pattern.DOTALL);

  // The end of a first line that announces more lines, such as "; see below:". It is removed,
  // because only the first line is shown.
  private static final Pattern INTRODUCTION = Pattern.compile("(; [^;]*)?:$");

  private final int exitCode;

  private Failure(int exitCode, String message, @Nullable Throwable cause) {
    super(readable(message), cause);
    this.exitCode = exitCode;
  }

  /** The user named something that does not exist, or options that contradict each other. */
  public static Failure usage(String message) {
    return new Failure(USAGE, message, null);
  }

  /** A step of the run failed, without an exception. */
  public static Failure run(String message) {
    return run(message, null);
  }

  /** A step of the run failed. */
  public static Failure run(String message, @Nullable Throwable cause) {
    return new Failure(RUN, message, cause);
  }

  /** The run was interrupted. */
  public static Failure interrupted() {
    return new Failure(INTERRUPTED, "interrupted", null);
  }

  /**
   * The run was interrupted, and some of its results remain.
   *
   * @param left the part of the message that names these results and their folder
   */
  public static Failure interrupted(String left) {
    return new Failure(INTERRUPTED, "interrupted; " + left, null);
  }

  /**
   * Turns an exception of a run into a failure. If an interruption has caused the exception,
   * interrupts the thread again.
   */
  public static Failure of(Exception failure) {
    if (isInterruption(failure)) {
      Thread.currentThread().interrupt();
      return interrupted();
    }
    if (failure instanceof Failure known) {
      return known;
    }
    if (failure instanceof TestbedException && failure.getMessage() != null) {
      // The message keeps all its lines, because the lines after the first are the end of a
      // server's log.
      return run(failure.getMessage(), failure);
    }
    return run(firstLine(failure), failure);
  }

  /** Whether an interruption of the thread has caused a failure, also in a driver or a channel. */
  private static boolean isInterruption(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof InterruptedException
          || cause instanceof MongoInterruptedException
          || cause instanceof ClosedByInterruptException) {
        return true;
      }
    }
    return false;
  }

  /** The exit code of this failure. */
  public int exitCode() {
    return exitCode;
  }

  /** The reason of a failed I/O operation in plain words, without the file's name. */
  public static String reason(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "no such file or folder";
    }
    if (e instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (e instanceof FileSystemException f && f.getReason() != null) {
      return f.getReason();
    }
    return firstLine(e);
  }

  /** The first line of a throwable's message, or its class name if it has no message. */
  public static String firstLine(Throwable e) {
    String message = e.getMessage();
    if (message == null || message.isBlank()) {
      return e.getClass().getSimpleName();
    }
    List<String> lines = readable(message).lines().map(String::strip).toList();
    return lines.size() == 1 ? lines.get(0) : INTRODUCTION.matcher(lines.get(0)).replaceFirst("");
  }

  /**
   * The message with the unreachable servers and the reasons, instead of the driver's view of the
   * cluster.
   */
  private static String readable(String said) {
    String message = PLACE.matcher(said).replaceAll("$1");
    Matcher timeout = TIMEOUT.matcher(message);
    if (!timeout.find()) {
      return message;
    }
    String before = message.substring(0, timeout.start());
    Matcher unresolved = UNRESOLVED.matcher(timeout.group(1));
    if (unresolved.find()) {
      return before + unresolved.group(1);
    }
    String servers = unreachable(timeout.group(1));
    return servers.isEmpty() ? message : before + "cannot reach " + servers;
  }

  /** The servers in the driver's description of a cluster, with the innermost cause of each. */
  private static String unreachable(String state) {
    StringJoiner servers = new StringJoiner(", ");
    for (MatchResult server : SERVER.matcher(state).results().toList()) {
      String reason =
          CAUSE
              .matcher(server.group(3))
              .results()
              .reduce((outer, inner) -> inner)
              .map(Failure::words)
              .orElse(server.group(2).toLowerCase(Locale.ROOT).replace('_', ' '));
      servers.add(server.group(1) + " (" + reason + ")");
    }
    return servers.toString();
  }

  private static String words(MatchResult cause) {
    String what =
        cause.group(2) == null ? "" : AFTER_REASON.matcher(cause.group(2)).replaceFirst("").strip();
    // The message of an UnknownHostException is only the host's name.
    boolean unknown = cause.group(1).equals("UnknownHostException") && !what.contains(" ");
    return what.isEmpty() ? cause.group(1) : unknown ? "unknown host" : what;
  }
}
