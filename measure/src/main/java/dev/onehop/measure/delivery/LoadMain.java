package dev.onehop.measure.delivery;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.mongodb.client.MongoClient;
import dev.onehop.measure.frame.Parallel;
import dev.onehop.resync.ChildMain;
import dev.onehop.resync.ClusterUrl;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.bson.BsonTimestamp;

/**
 * Clients in a separate process. Each writes its own rows, and reads the rows of another client of
 * the process, so that one clock times both. The first line of standard input is the task as JSON,
 * the next is {@code go}; the end of input ends the process. Standard output has {@code ready}, and
 * {@code done} when the report is in the task's folder.
 */
public final class LoadMain {

  static final String READY = "ready";
  static final String GO = "go";
  static final String DONE = "done";
  static final String REPORT = "report.json";

  private static final long WARMUP_MILLIS = 3_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Task task;
  private final RowCollection collection;
  private final List<Client> clients = new ArrayList<>();

  /**
   * The task of a process of clients. Immutable.
   *
   * @param url the cluster, with the database
   * @param run marks the rows
   * @param firstClient the number of its first client
   * @param clients the number of its clients
   * @param documents the number of documents that each client starts with
   * @param bytes the size of a row
   * @param rate writes per second of each client
   * @param durationMillis how long they write
   * @param awaitMillis how long servers may wait for events
   * @param patienceMillis the time after which missing rows count as lost
   * @param total whether the ordered path has one order of all events
   * @param folder for the files of the process
   */
  record Task(
      ClusterUrl url,
      int run,
      int firstClient,
      int clients,
      int documents,
      int bytes,
      double rate,
      long durationMillis,
      long awaitMillis,
      long patienceMillis,
      boolean total,
      Path folder) {}

  /** A client with its rows and the query for another client's rows. */
  private record Client(
      MongoClient writes, RowWriter writer, RowCollection reads, Subscription.Query query)
      implements AutoCloseable {
    @Override
    public void close() {
      writer.close();
      writes.close();
      reads.close();
    }
  }

  private LoadMain(Task task, RowCollection collection) {
    this.task = task;
    this.collection = collection;
  }

  /** Executes the commands of its standard input. */
  public static void main(String[] args) {
    ChildMain.run(Task.class, LoadMain::run);
  }

  /** Empty findings of all paths. */
  static Map<StreamPath, Findings> nothing() {
    Map<StreamPath, Findings> findings = new EnumMap<>(StreamPath.class);
    for (StreamPath path : StreamPath.TIMED) {
      findings.put(
          path, Findings.of(Findings.LATENCY, Findings.SERVICE, Findings.TEST, Findings.SNAPSHOT));
    }
    return findings;
  }

  private static void run(Task task, BufferedReader in, Consumer<String> say)
      throws IOException, InterruptedException {
    try (RowCollection collection = new RowCollection(task.url(), PropagateBench.COLLECTION)) {
      new LoadMain(task, collection).run(in, say);
    }
  }

  private void run(BufferedReader in, Consumer<String> say)
      throws IOException, InterruptedException {
    try {
      Signals signals =
          new Signals(
              task.run(), Row.LEAST_BYTES, List.copyOf(collection.placement().ranges().values()));
      for (int i = 0; i < task.clients(); i++) {
        clients.add(client(signals, i));
      }
      Parallel.forEach(clients, client -> client.writer().insert(task.documents()));
      // Without measurement, so that programs are warm.
      var unused = measure(0, WARMUP_MILLIS);
      say.accept(READY);
      if (!GO.equals(in.readLine())) {
        return;
      }
      ChildMain.haltAtEnd(in);
      JSON.writeValue(task.folder().resolve(REPORT).toFile(), measure(1, task.durationMillis()));
      say.accept(DONE);
    } finally {
      clients.forEach(Client::close);
    }
  }

  private Client client(Signals signals, int index) {
    MongoClient writes = Clients.oneHop(task.url());
    RowCollection reads = new RowCollection(task.url(), PropagateBench.COLLECTION);
    return new Client(
        writes,
        new RowWriter(
            collection.rows(writes),
            RowWriter.Kind.changing(task.run(), task.firstClient() + index, task.bytes()),
            HashRanges.all()),
        reads,
        new Subscription.Query(
            reads,
            reads.events(
                new BsonTimestamp(), Duration.ofMillis(task.awaitMillis()), task.total(), 0),
            signals,
            task.firstClient() + (index + 1) % task.clients(),
            false,
            Duration.ofMillis(task.patienceMillis())));
  }

  /** Measures once; returns the clients' findings by path. */
  private Map<StreamPath, Findings> measure(int round, long durationMillis)
      throws InterruptedException {
    List<Subscribers> subscribers = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      int number = 2 * (task.firstClient() + i) + round;
      subscribers.add(new Subscribers(clients.get(i).query(), number));
    }
    try {
      Subscribers.run(
          clients.stream().map(Client::writer).toList(),
          task.rate(),
          subscribers,
          0,
          durationMillis);
      Map<StreamPath, Findings> found = nothing();
      for (int i = 0; i < clients.size(); i++) {
        RowSet written = clients.get((i + 1) % clients.size()).writer().versions();
        Subscribers its = subscribers.get(i);
        found.forEach(
            (path, findings) -> {
              findings.times(Findings.LATENCY).addAll(its.by(path).sinceDue());
              findings.times(Findings.SERVICE).addAll(its.by(path).sinceBegan());
              findings.times(Findings.TEST).add(its.by(path).liveMicros());
              findings.times(Findings.SNAPSHOT).add(its.by(path).readMicros());
              its.addFaults(path, written, findings);
            });
      }
      return found;
    } finally {
      subscribers.forEach(Subscribers::close);
    }
  }
}
