package dev.onehop.resync;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A user's own command that copies a data folder to another host, such as rsync. */
final class CopyCommand {

  private static final long POLL_MILLIS = 100;
  private static final int OUTPUT_LINES = 3;

  private CopyCommand() {}

  /**
   * Runs it.
   *
   * @param command as {@link ResyncPlan#filled} takes it, and with {@code {source}}, the folder,
   *     and {@code {files}}, a file with the paths of the data's files in it
   * @param check fails if it is no longer worth while
   * @throws Failure if it ends with anything but 0
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
        List<String> lines = Files.readAllLines(output);
        throw Failure.run(
            "--copy ended with %d: %s"
                .formatted(
                    process.exitValue(),
                    String.join(
                        "; ",
                        lines.subList(Math.max(0, lines.size() - OUTPUT_LINES), lines.size()))),
            null);
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
}
