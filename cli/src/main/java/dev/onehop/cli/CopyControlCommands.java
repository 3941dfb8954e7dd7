package dev.onehop.cli;

import com.mongodb.MongoException;
import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.resync.Failure;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code onehop copy pause}, {@code continue}, {@code finish} and {@code status}. */
final class CopyControlCommands {
  private CopyControlCommands() {}

  /** Which job. */
  static final class Options {
    @Option(
        names = "--to",
        required = true,
        paramLabel = "URL",
        description =
            "The destination of the copy. A user's password is taken from ONEHOP_TO_PASSWORD.")
    private String to;

    @Option(
        names = "--job",
        paramLabel = "NAME",
        defaultValue = "copy",
        description = "The name of the job. Default: ${DEFAULT-VALUE}.")
    private String job;

    @Mixin private ConnectionOptions connection = new ConnectionOptions();

    /** Does something with the job. */
    int with(Asking asking) {
      try (CopyControl control =
          CopyControl.connect(
              ConnectionOptions.destination(to), connection.client("onehop-copy"), job)) {
        asking.ask(control);
        return 0;
      } catch (InterruptedException e) {
        throw Failure.of(e);
      } catch (IllegalArgumentException e) {
        throw Failure.usage(Failure.firstLine(e));
      } catch (CopyException | MongoException | IllegalStateException e) {
        throw Failure.run(Failure.firstLine(e), e);
      }
    }

    /** Fails if what was asked for waits for a process. */
    void requireProcess(CopyControl control, String waits) throws InterruptedException {
      boolean done = new BsonString(CopyPhase.DONE.name()).equals(control.status().get("phase"));
      if (!done && !control.isWorkedOn()) {
        throw Failure.run(
            "no process runs the job %s: it %s after 'copy --resume'".formatted(job, waits), null);
      }
    }
  }

  /** What is done with a job. */
  interface Asking {
    /** Does it. */
    void ask(CopyControl control) throws InterruptedException;
  }

  /** {@code onehop copy pause}. */
  @Command(
      name = "pause",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      header = "Have a copy rest.")
  static final class Pause implements Callable<Integer> {
    @Mixin private Options options = new Options();

    @Override
    public Integer call() {
      return options.with(CopyControl::pause);
    }
  }

  /** {@code onehop copy continue}. */
  @Command(
      name = "continue",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      header = "Have a copy that rests go on.")
  static final class Continue implements Callable<Integer> {
    @Mixin private Options options = new Options();

    @Override
    public Integer call() {
      return options.with(
          control -> {
            control.proceed();
            options.requireProcess(control, "goes on");
          });
    }
  }

  /** {@code onehop copy finish}. */
  @Command(
      name = "finish",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      header = "Have a copy end as soon as it has caught up.",
      description = {
        "",
        "Stop the writes to the source first. The copy then applies what the source has, builds"
            + " unique and expiring indexes, says the cluster time, and ends. Without a process that"
            + " runs the copy, the exit code is 1.",
        ""
      })
  static final class Finish implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private Options options = new Options();

    @Override
    public Integer call() {
      return options.with(
          control -> {
            control.finish();
            if (control.status().getBoolean("paused", BsonBoolean.FALSE).getValue()) {
              PrintWriter err = spec.commandLine().getErr();
              err.println("onehop: the copy is paused, and finishes after 'copy continue'");
              err.flush();
            }
            options.requireProcess(control, "finishes");
          });
    }
  }

  /** {@code onehop copy status}. */
  @Command(
      name = "status",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      header = "Print how far a copy is, as its job has it.")
  static final class Status implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private Options options = new Options();

    @Option(names = "--json", description = "Print it as JSON, in place of text.")
    private boolean json;

    @Override
    public Integer call() {
      return options.with(control -> print(control.status()));
    }

    private void print(BsonDocument status) {
      PrintWriter out = spec.commandLine().getOut();
      if (json) {
        out.println(status.toJson());
      } else {
        print(out, status);
      }
      out.flush();
    }

    private static void print(PrintWriter out, BsonDocument fields) {
      fields.forEach(
          (name, value) -> {
            if (value.isDocument()) {
              print(out, value.asDocument());
            } else {
              String text = new BsonDocument("", value).toJson();
              out.printf("%-20s %s%n", name, text.substring(5, text.length() - 1));
            }
          });
    }
  }
}
