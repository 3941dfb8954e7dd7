package dev.onehop.it;

import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChangeChannels;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * A reader in a separate process, which may be killed at any time. It writes each event to a log,
 * stores checkpoints, and starts at the last stored one.
 */
final class StreamReaderMain {
  static final String LOG = "log";
  static final String EVENT = "E ";
  static final String STORED = "P ";
  static final String STARTED = "R ";

  private static final String CHECKPOINT_FILE = "place";
  private static final Duration CHECKPOINT_INTERVAL = Duration.ofMillis(500);

  private final Path folder;
  private final int process;
  private final int processes;
  private final RandomAccessFile log;

  private StreamReaderMain(Path folder, int process, int processes) throws IOException {
    this.folder = folder;
    this.process = process;
    this.processes = processes;
    this.log = new RandomAccessFile(folder.resolve(LOG).toFile(), "rw");
    log.setLength(wholeLines());
    log.seek(log.length());
  }

  /**
   * The length of the log without an incomplete last line, which a killed process may have written.
   */
  private long wholeLines() throws IOException {
    long end = log.length();
    while (end > 0) {
      log.seek(end - 1);
      if (log.read() == '\n') {
        break;
      }
      end--;
    }
    return end;
  }

  /**
   * Reads until it is killed.
   *
   * @param arguments the URL, namespace, order, number of all processes' channels, number of this
   *     process, number of processes, first checkpoint, folder
   */
  public static void main(String[] arguments) throws IOException {
    endWithParent();
    StreamReaderMain reader =
        new StreamReaderMain(
            Path.of(arguments[7]), Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]));
    int dot = arguments[1].indexOf('.');
    Checkpoint from = reader.checkpoint(arguments[6]);
    reader.write(STARTED + from + "\n");
    ShardedChangeStream stream =
        ShardedChangeStream.builder(arguments[0])
            .collection(arguments[1].substring(0, dot), arguments[1].substring(dot + 1))
            .order(Order.valueOf(arguments[2]))
            .startAfter(from)
            .build();
    Mono.from(
            ChangeChannels.builder(stream, Integer.parseInt(arguments[3]))
                .acknowledged(reader::store, CHECKPOINT_INTERVAL)
                .build()
                .process(reader::process))
        .block();
    throw new IllegalStateException("the stream has ended");
  }

  /** Ends this process when the test ends, even if the test is killed. */
  private static void endWithParent() {
    Thread watch =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {}
              } catch (IOException e) {
                // It is gone.
              }
              Runtime.getRuntime().halt(0);
            },
            "parent");
    watch.setDaemon(true);
    watch.start();
  }

  private Checkpoint checkpoint(String first) throws IOException {
    Path stored = folder.resolve(CHECKPOINT_FILE);
    return Checkpoint.parse(
        BsonDocument.parse(Files.exists(stored) ? Files.readString(stored) : first));
  }

  private void store(Checkpoint checkpoint) {
    try {
      Path next =
          Files.writeString(folder.resolve(CHECKPOINT_FILE + ".next"), checkpoint.toString());
      Files.move(
          next,
          folder.resolve(CHECKPOINT_FILE),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    write(STORED + checkpoint + "\n");
  }

  private Publisher<Void> process(int channel, List<StreamEvent.Change> changes) {
    if (channel % processes == process) {
      StringBuilder lines = new StringBuilder();
      for (StreamEvent.Change change : changes) {
        lines
            .append(EVENT)
            .append(change.shard())
            .append(' ')
            .append(change.token())
            .append(' ')
            .append(StreamCheck.key(change.document()))
            .append(' ')
            .append(StreamCheck.version(change.document()))
            .append('\n');
      }
      write(lines.toString());
    }
    return Mono.empty();
  }

  private synchronized void write(String lines) {
    try {
      log.write(lines.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
