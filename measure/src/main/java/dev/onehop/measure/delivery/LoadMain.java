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
 * Clients in a separate process. Each client writes its own rows and reads the rows of another
 * client of the process. Write and read therefore use the same clock. The first line of standard
 * input is the task as JSON, the second is {@code go}. The end of standard input ends the process.
 * The process prints {@code ready}, and {@code done} when the report is in the task's folder.
 */
public final class LoadMain {

  static final String GO = "go";

  private static final long WARMUP_MILLIS = 3_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Task task;
  private final RowCollection collection;
  private final List<Client> clients = new ArrayList<>();

  /**
   * The task of a process of clients. Immutable.
   *
   * @param url the URL of the cluster, with the database
   * @param run the number that marks the rows
   * @param firstClient the number of the process's first client
   * @param clients the number of clients in the process
   * @param documents the number of documents that each client starts with
   * @param bytes the size of a row in bytes
   * @param rate the writes per second of each client
   * @param durationMillis the time for which the clients write
   * @param awaitMillis the time for which servers may wait for events
   * @param patienceMillis the time after which missing rows count as lost
   * @param total whether the ordered path has one order of all events
   * @param folder the folder for the files of the process
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

  /** A client: the writer of its rows, and the query for another client's rows. */
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

  /** Executes the commands of standard input. */
  public static void main(String[] args) {
    ChildMain.run(Task.class, LoadMain::run);
  }

  /** Creates empty findings for all paths. */
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
      // The first measurement does not count: it makes the JVM compile the code.
      var unused = measure(0, WARMUP_MILLIS);
      say.accept(Children.READY);
      if (!GO.equals(in.readLine())) {
        return;
      }
      ChildMain.haltAtEnd(in);
      JSON.writeValue(
          task.folder().resolve(Children.REPORT).toFile(), measure(1, task.durationMillis()));
      say.accept(Children.DONE);
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

  /** Measures once, and returns the clients' findings by path. */
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
