package dev.onehop.measure.delivery;

import dev.onehop.measure.delivery.ConsumerReport.Sample;
import dev.onehop.measure.frame.ProcessUse;
import dev.onehop.measure.frame.Sampler;
import dev.onehop.resync.ChildJvm;
import dev.onehop.resync.ChildMain;
import dev.onehop.resync.ClusterUrl;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * A consumer in a separate process, whose processor time and memory can be measured. The first line
 * of standard input is the task as JSON. Each further line is a command: {@code open}, {@code
 * window FROM TO}, {@code close}. The end of standard input ends the process. The process prints
 * {@code ready} at its start, {@code opened} after {@code open}, {@code seen N} a few times a
 * second, and {@code done} after {@code close}, when the report is in the task's folder.
 */
public final class ConsumerMain {

  static final String OPEN = "open";
  static final String OPENED = "opened";
  static final String WINDOW = "window";
  static final String CLOSE = "close";

  /** The file of the rows that have arrived. */
  static final String ROWS = "seen";

  private static final Duration SAMPLE = Duration.ofMillis(100);

  private final Task task;
  private final Consumer<String> say;
  private @Nullable Consumption open;

  /**
   * The task of a consumer. Immutable.
   *
   * @param url the URL of the cluster, with the database
   * @param run the number of the run whose rows count
   * @param point the point of the measurement
   * @param process the number of this process, from 0; the process has the channels whose number
   *     modulo the number of processes is this number
   * @param start the cluster time from which events are read, as a number
   * @param folder the folder for the files of the process
   */
  record Task(
      ClusterUrl url, int run, ConsumePlan.Point point, int process, long start, Path folder) {

    /** Creates the log of the events of this process's channels. */
    ArrivalLog log(Lags lags) {
      return new ArrivalLog(
          run,
          point.order().equals("total"),
          channel -> channel % point.processes() == process,
          lags);
    }
  }

  /** An open stream, and a sampler that closes with the stream. */
  private final class Consumption {
    private final Lags lags = new Lags();
    private final ArrivalLog log = task.log(lags);
    private final long openedMicros = SteadyClock.micros();
    private final Sampler<Sample> sampler = Sampler.start(SAMPLE, this::sample);
    private volatile @Nullable EventStream stream;

    void open() {
      stream =
          EventStream.open(
              task.point().source(),
              new StreamRequest(
                  task.url(),
                  ConsumeBench.COLLECTION,
                  new BsonTimestamp(task.start()),
                  List.of(),
                  null,
                  task.point().total(),
                  task.point().channels()),
              log);
    }

    private Sample sample() {
      say.accept(Children.SEEN + log.checker().distinct());
      EventStream opened = stream;
      Throwable failure = opened == null ? null : opened.failure();
      if (failure != null) {
        failure.printStackTrace();
        say.accept(ChildJvm.FAILED + failure);
        throw new IllegalStateException(failure);
      }
      ProcessUse use = ProcessUse.own();
      return new Sample(
          SteadyClock.micros(), use.cpu().toNanos(), use.memoryBytes(), log.rows(), log.bytes());
    }

    ConsumerReport close() throws IOException {
      Objects.requireNonNull(stream).close();
      log.close();
      RowChecker checker = log.checker();
      Path folder = Files.createDirectories(task.folder());
      checker.seen().write(folder.resolve(ROWS));
      lags.write(folder);
      return new ConsumerReport(
          openedMicros,
          Math.max(openedMicros, log.lastMicros()),
          checker.distinct(),
          checker.doubled(),
          checker.outOfOrder(),
          lags.negative(),
          sampler.stop().stream().map(Sampler.Sample::value).toList());
    }
  }

  private ConsumerMain(Task task, Consumer<String> say) {
    this.task = task;
    this.say = say;
  }

  /** Executes the commands of standard input. */
  public static void main(String[] args) {
    ChildMain.run(Task.class, (task, in, say) -> new ConsumerMain(task, say).run(in));
  }

  private void run(BufferedReader in) throws IOException {
    say.accept(Children.READY);
    String line;
    while ((line = in.readLine()) != null) {
      String[] words = line.split(" ", -1);
      switch (words[0]) {
        case OPEN -> {
          open = new Consumption();
          open.open();
          say.accept(OPENED);
        }
        case WINDOW ->
            Objects.requireNonNull(open)
                .lags
                .setWindow(Long.parseLong(words[1]), Long.parseLong(words[2]));
        case CLOSE -> {
          ConsumerReport report = Objects.requireNonNull(open).close();
          open = null;
          Children.report(task.folder(), report, say);
        }
        default -> throw new IOException("unknown command: " + line);
      }
    }
  }
}
