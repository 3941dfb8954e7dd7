package dev.onehop.measure.delivery;

import com.mongodb.client.MongoClient;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.PropagateMeasurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.StringJoiner;
import org.bson.BsonTimestamp;

/**
 * Measures the time from the start of a subscription until it is live, while writers write. A test
 * subscribes to a half of the collection or to the whole collection. The first test does not count.
 * An instance measures once.
 */
record Bootstrap(
    PropagatePlan plan,
    PropagatePlan.Point point,
    RowCollection collection,
    Signals signals,
    Session session) {

  /** The writes per second of each writer. */
  private static final double WRITES_PER_SECOND = 200;

  /** The time for which writers write before and after a test. */
  private static final long WRITING_MILLIS = 300;

  /** Runs the measurement. */
  List<PropagateMeasurement> measure(Path folder) throws InterruptedException {
    boolean whole = point.measurement() == Measurement.INITIAL_SYNC;
    Map<String, Findings> found = Findings.ofPaths(Findings.LATENCY, Findings.SNAPSHOT);
    try (MongoClient writes = Clients.oneHop(session.cluster().url());
        RowWriter rows = writer(writes, 0);
        RowWriter others = writer(writes, 1)) {
      Subscription.Query query =
          new Subscription.Query(
              collection,
              collection.events(new BsonTimestamp(), plan.await(), plan.total()),
              signals,
              rows,
              whole);
      session.progress().state("inserting");
      List<RowWriter> writers = whole ? List.of(rows) : List.of(rows, others);
      writers.forEach(writer -> writer.insert(point.documents()));
      for (int test = 0; test <= plan.tests(); test++) {
        session.progress().state("test %d of %d: subscribing".formatted(test, plan.tests()));
        List<Subscription> subscriptions = new ArrayList<>();
        for (StreamPath path : StreamPath.TIMED) {
          subscriptions.add(new Subscription(path, query, test, (row, event, seen) -> {}));
        }
        Subscription.run(subscriptions, writers, WRITES_PER_SECOND, WRITING_MILLIS, WRITING_MILLIS);
        add(found, test, subscriptions);
      }
    }
    return Findings.write(found, point, 1, plan.tests(), folder);
  }

  private RowWriter writer(MongoClient client, int group) {
    return RowWriter.changing(collection.rows(client), signals.run(), group, point.bytes());
  }

  private void add(Map<String, Findings> found, int test, List<Subscription> subscriptions) {
    StringJoiner each = new StringJoiner(", ");
    long slowest = 0;
    for (Subscription its : subscriptions) {
      its.addTo(Objects.requireNonNull(found.get(its.path().label())), Findings.LATENCY, test > 0);
      slowest = Math.max(slowest, its.liveMicros());
      each.add(
          "%s %d with %d documents and %d changes"
              .formatted(
                  its.path().label(),
                  Math.round(its.liveMicros() / 1000.0),
                  its.checker().read(),
                  its.checker().distinct()));
    }
    session.progress().note(Propagation.iteration(test, "completed", slowest, each));
  }
}
