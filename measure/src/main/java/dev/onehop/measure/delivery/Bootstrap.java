package dev.onehop.measure.delivery;

import com.mongodb.client.MongoClient;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.PropagateMeasurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Measures the time from the start of a subscription until it is live, while writers write. A test
 * subscribes to a half of the collection or to the whole collection. The first test does not count.
 * An instance measures once.
 */
record Bootstrap(
    PropagatePlan plan, PropagatePlan.Point point, Subscription.Query query, Session session) {

  private static final int OTHERS = 1;

  /** The writes per second of each writer. */
  private static final double WRITES_PER_SECOND = 200;

  /** The time for which writers write before and after a test. */
  private static final long WRITING_MILLIS = 300;

  /** Runs the measurement. */
  List<PropagateMeasurement> measure(Path folder) throws InterruptedException {
    Map<StreamPath, Findings> found = new EnumMap<>(StreamPath.class);
    StreamPath.TIMED.forEach(
        path -> found.put(path, Findings.of(Findings.LATENCY, Findings.SNAPSHOT)));
    try (MongoClient writes = Clients.oneHop(session.cluster().url());
        RowWriter rows = writer(writes, query.group());
        RowWriter others = writer(writes, OTHERS)) {
      session.progress().state("inserting");
      List<RowWriter> writers = query.whole() ? List.of(rows) : List.of(rows, others);
      writers.forEach(writer -> writer.insert(point.documents()));
      for (int test = 0; test <= plan.tests(); test++) {
        session.progress().state("test %d of %d: subscribing".formatted(test, plan.tests()));
        try (Subscribers subscribers = new Subscribers(query, test)) {
          Subscribers.run(
              writers, WRITES_PER_SECOND, List.of(subscribers), WRITING_MILLIS, WRITING_MILLIS);
          add(found, test, subscribers, rows.versions());
        }
      }
    }
    List<PropagateMeasurement> results = new ArrayList<>();
    found.forEach(
        (path, its) -> results.add(its.write(point, path.label(), 1, plan.tests(), folder)));
    return results;
  }

  private RowWriter writer(MongoClient client, int group) {
    return new RowWriter(
        query.collection().rows(client),
        RowWriter.Kind.changing(query.signals().run(), group, point.bytes()),
        HashRanges.all());
  }

  private void add(
      Map<StreamPath, Findings> found, int test, Subscribers subscribers, RowSet written) {
    StringJoiner each = new StringJoiner(", ");
    long slowest = 0;
    for (Map.Entry<StreamPath, Findings> path : found.entrySet()) {
      Subscription its = subscribers.by(path.getKey());
      subscribers.addFaults(path.getKey(), written, path.getValue());
      if (test > 0) {
        path.getValue().times(Findings.LATENCY).add(its.liveMicros());
        path.getValue().times(Findings.SNAPSHOT).add(its.readMicros());
      }
      slowest = Math.max(slowest, its.liveMicros());
      each.add(
          "%s %d with %d documents and %d changes"
              .formatted(
                  path.getKey().label(),
                  Math.round(its.liveMicros() / 1000.0),
                  its.checker().read(),
                  its.checker().distinct()));
    }
    session.progress().note(Propagation.iteration(test, "completed", slowest, each));
  }
}
