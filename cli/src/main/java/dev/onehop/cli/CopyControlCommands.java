package dev.onehop.cli;

import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.resync.Failure;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop copy pause}, {@code continue}, {@code finish} and {@code status}. */
final class CopyControlCommands {
  private CopyControlCommands() {}

  /** A command for a job. */
  private abstract static class OfJob extends Subcommand {
    @Option(
        names = "--to",
        required = true,
        paramLabel = "URL",
        description =
            "The destination of the copy. A user's password comes from ONEHOP_TO_PASSWORD.")
    private String to;

    @Option(
        names = "--job",
        paramLabel = "NAME",
        defaultValue = "copy",
        description = "The name of the job. Default: ${DEFAULT-VALUE}.")
    private String job;

    @Mixin private ConnectionOptions connection = new ConnectionOptions();

    abstract void ask(CopyControl control) throws InterruptedException;

    @Override
    public Integer call() throws InterruptedException {
      try (CopyControl control =
          CopyControl.connect(
              ConnectionOptions.destination(to), connection.client("onehop-copy"), job)) {
        ask(control);
        return 0;
      }
    }

    /**
     * Fails if no process runs an unfinished job, because the request would then wait for a
     * process.
     */
    void requireProcess(CopyControl control, String waits) throws InterruptedException {
      boolean done = new BsonString(CopyPhase.DONE.name()).equals(control.status().get("phase"));
      if (!done && !control.isWorkedOn()) {
        throw Failure.run(
            "no process runs the job %1$s now: it %2$s after 'copy --resume'".formatted(job, waits),
            null);
      }
    }
  }

  /** {@code onehop copy pause}. */
  @Command(name = "pause", header = "Pause a copy.")
  static final class Pause extends OfJob {
    @Override
    void ask(CopyControl control) throws InterruptedException {
      control.pause();
    }
  }

  /** {@code onehop copy continue}. */
  @Command(name = "continue", header = "Continue a paused copy.")
  static final class Continue extends OfJob {
    @Override
    void ask(CopyControl control) throws InterruptedException {
      control.proceed();
      requireProcess(control, "continues");
    }
  }

  /** {@code onehop copy finish}. */
  @Command(
      name = "finish",
      header = "Finish a copy when it has caught up.",
      description =
          "Stop the writes to the source first. The copy then applies the remaining changes, builds"
              + " unique and expiring indexes, and ends. It prints a cluster time: the destination"
              + " has all changes before this time. If no process runs the copy, the exit code is"
              + " 1.")
  static final class Finish extends OfJob {
    @Override
    void ask(CopyControl control) throws InterruptedException {
      control.finish();
      if (control.status().getBoolean("paused", BsonBoolean.FALSE).getValue()) {
        spec.commandLine()
            .getErr()
            .println("onehop: the copy is paused, and finishes after 'copy continue'");
      }
      requireProcess(control, "finishes");
    }
  }

  /** {@code onehop copy status}. */
  @Command(name = "status", header = "Print the progress of a copy.")
  static final class Status extends OfJob {
    @Option(names = "--json", description = "Print the progress as JSON, in place of text.")
    private boolean json;

    @Override
    void ask(CopyControl control) throws InterruptedException {
      BsonDocument status = control.status();
      if (json) {
        out().println(status.toJson());
      } else {
        print(status);
      }
    }

    /**
     * Prints one line for each field of the job, and for each field of {@code progress}. Other
     * objects, such as {@code seconds}, are printed as JSON.
     */
    private void print(BsonDocument fields) {
      fields.forEach(
          (name, value) -> {
            if (name.equals("progress")) {
              BsonDocument progress = value.asDocument().clone();
              progress.remove("phase");
              print(progress);
            } else if (!value.isNull()) {
              String text = new BsonDocument("", value).toJson();
              out().printf("%-20s %s%n", name, text.substring(5, text.length() - 1));
            }
          });
    }
  }
}
