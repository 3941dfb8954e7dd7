package dev.onehop.measure.delivery;

import com.mongodb.client.MongoClient;
import dev.onehop.measure.frame.Parallel;
import dev.onehop.resync.ChildMain;
import dev.onehop.resync.ClusterUrl;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

  private final Task task;
  private final List<Client> clients = new ArrayList<>();

  /**
   * The task of a process of clients. Immutable.
   *
   * @param url the URL of the cluster, with the database
   * @param run the number that marks the rows
   * @param firstClient the number of the process's first client
   * @param clients the number of clients in the process
   * @param point the point of the measurement, with the number of documents that each client starts
   *     with
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
      PropagatePlan.Point point,
      double rate,
      long durationMillis,
      long awaitMillis,
      long patienceMillis,
      boolean total,
      Path folder) {}

  /** A client: the writer of its rows, and the clients that write these and read other rows. */
  private record Client(MongoClient writes, RowWriter writer, RowCollection reads)
      implements AutoCloseable {
    @Override
    public void close() {
      writer.close();
      writes.close();
      reads.close();
    }
  }

  private LoadMain(Task task) {
    this.task = task;
  }

  /** Executes the commands of standard input. */
  public static void main(String[] args) {
    ChildMain.run(Task.class, (task, in, say) -> new LoadMain(task).run(in, say));
  }

  /** Creates empty findings for all paths. */
  static Map<String, Findings> nothing() {
    return Findings.ofPaths(Findings.LATENCY, Findings.SERVICE, Findings.TEST, Findings.SNAPSHOT);
  }

  private void run(BufferedReader in, Consumer<String> say)
      throws IOException, InterruptedException {
    try {
      for (int i = 0; i < task.clients(); i++) {
        clients.add(client(task.firstClient() + i));
      }
      Signals signals =
          new Signals(
              task.run(),
              Row.LEAST_BYTES,
              clients.get(0).reads().placement().hashes(),
              Duration.ofMillis(task.patienceMillis()));
      Parallel.forEach(clients, client -> client.writer().insert(task.point().documents()));
      // The first measurement does not count: it makes the JVM compile the code.
      var unused = measure(signals, 0, WARMUP_MILLIS);
      say.accept(Children.READY);
      if (!GO.equals(in.readLine())) {
        return;
      }
      ChildMain.haltAtEnd(in);
      Children.report(task.folder(), measure(signals, 1, task.durationMillis()), say);
    } finally {
      clients.forEach(Client::close);
    }
  }

  private Client client(int number) {
    MongoClient writes = Clients.oneHop(task.url());
    RowCollection reads = new RowCollection(task.url(), PropagateBench.COLLECTION);
    return new Client(
        writes,
        RowWriter.changing(reads.rows(writes), task.run(), number, task.point().bytes()),
        reads);
  }

  /** Measures once, and returns the clients' findings by path. */
  private Map<String, Findings> measure(Signals signals, int round, long durationMillis)
      throws InterruptedException {
    Map<String, Findings> found = nothing();
    List<Subscription> subscriptions = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      RowCollection reads = clients.get(i).reads();
      Subscription.Query query =
          new Subscription.Query(
              reads,
              reads.events(
                  new BsonTimestamp(), Duration.ofMillis(task.awaitMillis()), task.total()),
              signals,
              clients.get((i + 1) % clients.size()).writer(),
              false);
      for (StreamPath path : StreamPath.TIMED) {
        Findings its = Objects.requireNonNull(found.get(path.label()));
        subscriptions.add(
            new Subscription(path, query, round, (row, event, seen) -> its.arrived(row, seen)));
      }
    }
    Subscription.run(
        subscriptions,
        clients.stream().map(Client::writer).toList(),
        task.rate(),
        0,
        durationMillis);
    for (Subscription each : subscriptions) {
      each.addTo(Objects.requireNonNull(found.get(each.path().label())), Findings.TEST, true);
    }
    return found;
  }
}
