package dev.onehop.resync;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A shell command, given by the user, that copies a data folder to another host, such as rsync. */
final class CopyCommand {

  private static final long POLL_MILLIS = 100;
  private static final int OUTPUT_LINES = 3;

  private CopyCommand() {}

  /**
   * Runs the command.
   *
   * @param command the command with the placeholders of {@link ResyncPlan#filled}; {@code {source}}
   *     is the folder, {@code {files}} a file with the paths of its data files
   * @param check runs while the command runs, and throws to end it early
   * @throws Failure if the command ends with an exit code other than 0
   */
  static void run(String command, DataFolder source, Target target, Runnable check)
      throws IOException, InterruptedException {
    Path files = Files.createTempFile("onehop-files", ".txt");
    Path output = Files.createTempFile("onehop-copy", ".log");
    Process process = null;
    try {
      Files.writeString(
          files,
          source.files().keySet().stream().map(file -> file + "\n").collect(Collectors.joining()));
      process =
          ResyncPlan.process(
                  "sh",
                  "-c",
                  ResyncPlan.filled(command, target)
                      .replace("{source}", ResyncPlan.quoted(source.path().toString()))
                      .replace("{files}", ResyncPlan.quoted(files.toString())))
              .redirectOutput(output.toFile())
              .start();
      while (!process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        check.run();
      }
      if (process.exitValue() != 0) {
        throw Failure.run(
            "--copy ended with %d: %s"
                .formatted(
                    process.exitValue(), String.join("; ", lastLines(output, OUTPUT_LINES))));
      }
    } finally {
      if (process != null) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
      Files.delete(files);
      Files.delete(output);
    }
  }

  /** The last lines of a command's output. */
  static List<String> lastLines(Path output, int most) throws IOException {
    List<String> lines = Files.readAllLines(output);
    return lines.subList(Math.max(0, lines.size() - most), lines.size());
  }
}
