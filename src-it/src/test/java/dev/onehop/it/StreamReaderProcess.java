package dev.onehop.it;

import dev.onehop.streams.channel.Channels;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/** The test's side of a {@link StreamReaderMain}, with the check of its events. */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
final class StreamReaderProcess implements AutoCloseable {
  private static final int MAX_BYTES = 1 << 20;

  private final String name;
  private final Path folder;
  private final List<String> command;
  private final int channels;
  private final int process;
  private final int processes;
  private final StreamCheck check;
  private @Nullable Process running;
  private long read;
  private int starts;
  private volatile @Nullable Checkpoint checkpoint;

  /**
   * Starts a reader.
   *
   * @param channels the number of channels of all processes
   * @param process the number of this process, from 0: it has each channel whose number modulo
   *     {@code processes} is this number
   * @param first the first start
   * @param folder an existing folder for this reader only
   */
  StreamReaderProcess(
      String url,
      String namespace,
      Order order,
      int channels,
      int process,
      int processes,
      Checkpoint first,
      Path folder)
      throws IOException {
    this.name = order + " " + process;
    this.folder = folder;
    this.channels = channels;
    this.process = process;
    this.processes = processes;
    this.check = new StreamCheck(order == Order.TOTAL && channels == 1);
    this.command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-Xmx384m",
            "-cp",
            System.getProperty("java.class.path"),
            StreamReaderMain.class.getName(),
            url,
            namespace,
            order.name(),
            Integer.toString(channels),
            Integer.toString(process),
            Integer.toString(processes),
            first.toString(),
            folder.toString());
    start();
  }

  synchronized void start() throws IOException {
    File errors = folder.resolve("errors").toFile();
    running =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(errors))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(errors))
            .start();
    starts++;
  }

  /** Kills the process. It can be started again. */
  synchronized void kill() throws InterruptedException {
    Process ending = running;
    running = null;
    if (ending != null) {
      ending.destroyForcibly().waitFor();
    }
  }

  synchronized void setFrozen(boolean frozen) throws IOException, InterruptedException {
    Process process = running;
    if (process != null) {
      Process kill =
          new ProcessBuilder("kill", frozen ? "-STOP" : "-CONT", Long.toString(process.pid()))
              .start();
      if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
        throw new AssertionError("no signal to reader " + name);
      }
    }
  }

  /** The number of starts. */
  synchronized int starts() {
    return starts;
  }

  StreamCheck check() {
    return check;
  }

  /**
   * The last stored checkpoint in the lines of the log that were read so far; null if there is
   * none.
   */
  @Nullable Checkpoint checkpoint() {
    return checkpoint;
  }

  /**
   * Reads the new lines of the log.
   *
   * @throws AssertionError if the process has ended by itself, or an event was wrong
   */
  synchronized void poll() throws IOException {
    if (running != null && !running.isAlive()) {
      throw new AssertionError(
          "reader %s has ended by itself: %s"
              .formatted(name, lastException(Files.readAllLines(folder.resolve("errors")))));
    }
    Path log = folder.resolve(StreamReaderMain.LOG);
    while (Files.exists(log) && readLines(log)) {}
    if (!check.wrong().isEmpty()) {
      throw new AssertionError("reader " + name + ": " + String.join("\n", check.wrong()));
    }
  }

  /** The last exception, with the first lines of its stack trace. */
  private static String lastException(List<String> lines) {
    int first = lines.size();
    while (first > 0 && !lines.get(Math.min(first, lines.size() - 1)).startsWith("Exception")) {
      first--;
    }
    return String.join("\n", lines.subList(first, Math.min(lines.size(), first + 10)));
  }

  /** Reads some lines of the log, and returns whether there may be more. */
  private boolean readLines(Path log) throws IOException {
    byte[] bytes;
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      file.seek(read);
      bytes = new byte[(int) Math.min(MAX_BYTES, Math.max(0, file.length() - read))];
      file.readFully(bytes);
    }
    int from = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\n') {
        parse(new String(bytes, from, i - from, StandardCharsets.UTF_8));
        from = i + 1;
      }
    }
    read += from;
    return bytes.length == MAX_BYTES;
  }

  private void parse(String line) {
    String rest = line.substring(2);
    switch (line.substring(0, 2)) {
      case StreamReaderMain.EVENT -> {
        String[] parts = rest.split(" ", -1);
        check.add(parts[0], parts[1], Integer.parseInt(parts[2]), Integer.parseInt(parts[3]));
      }
      case StreamReaderMain.STORED -> {
        Checkpoint stored = Checkpoint.parse(BsonDocument.parse(rest));
        check.stored(stored);
        checkpoint = stored;
      }
      case StreamReaderMain.STARTED -> check.restarted(Checkpoint.parse(BsonDocument.parse(rest)));
      default -> throw new AssertionError("reader " + name + " wrote: " + line);
    }
  }

  /** The missing and additional events of this reader's documents. */
  List<String> differences(Map<Integer, VersionedWrites.Written> written) {
    List<String> differences = new ArrayList<>();
    check
        .differences(
            written.entrySet().stream()
                .filter(each -> isOwn(each.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)))
        .forEach(difference -> differences.add(name + ": " + difference));
    return differences;
  }

  private boolean isOwn(int key) {
    RawBsonDocument event =
        new RawBsonDocument(
            new BsonDocument("documentKey", new BsonDocument("_id", new BsonInt32(key))),
            new BsonDocumentCodec());
    return Channels.of(event, channels) % processes == process;
  }

  @Override
  public String toString() {
    return "%s: %d events, %d again, started %d times"
        .formatted(name, check.count(), check.again(), starts());
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }
}
