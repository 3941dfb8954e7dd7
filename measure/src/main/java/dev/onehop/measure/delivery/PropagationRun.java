package dev.onehop.measure.delivery;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Times how long written objects take to be seen, by every path at once: writes a test's objects
 * and then its signals, and waits until all have come. The first test is not timed. Used once.
 */
final class PropagationRun {

  private static final long POLL_MILLIS = 1;

  /** Time for what comes again. */
  private static final long SETTLE_MILLIS = 200;

  private final PropagatePlan plan;
  private final PropagatePlan.Point point;
  private final ClusterUrl url;
  private final String collection;
  private final int run;
  private final List<HashRanges> shards;
  private final Duration patience;
  private final Progress progress;
  private final Map<StreamPath, Arrivals> arrivals = new EnumMap<>(StreamPath.class);
  private final Map<StreamPath, Samples> tests = new EnumMap<>(StreamPath.class);

  /**
   * @param run marks the objects
   * @param shards the hashes of each shard
   * @param patience if nothing new comes for so long, it will not come
   */
  PropagationRun(
      PropagatePlan plan,
      PropagatePlan.Point point,
      ClusterUrl url,
      String collection,
      int run,
      List<HashRanges> shards,
      Duration patience,
      Progress progress) {
    this.plan = plan;
    this.point = point;
    this.url = url;
    this.collection = collection;
    this.run = run;
    this.shards = shards;
    this.patience = patience;
    this.progress = progress;
    for (StreamPath path : StreamPath.values()) {
      arrivals.put(path, new Arrivals(run, shards.size()));
      tests.put(path, new Samples());
    }
  }

  /**
   * Measures.
   *
   * @param listen opens the streams, whose items go to a sink
   * @param folder for the logs
   */
  List<PropagateMeasurement> measure(Function<Listeners.Sink, Listeners> listen, Path folder)
      throws InterruptedException, IOException {
    boolean oneHop = point.measurement() != Measurement.MONGO_TO_CLIENT;
    try (MongoClient writes = oneHop ? Clients.oneHop(url) : Clients.plain(url);
        MongoClient reads = Clients.plain(url);
        MajorityProbe probe =
            point.measurement() == Measurement.CLIENT_TO_MONGO
                ? MajorityProbe.start(in(reads))
                : null;
        Listeners listeners = listen.apply((path, item, seen) -> arrivals(path).take(item, seen))) {
      TestWriter writer =
          new TestWriter(
              in(writes).withWriteConcern(WriteConcern.MAJORITY),
              run,
              shards,
              point,
              plan.rate(),
              probe == null ? (last, item) -> {} : probe);
      for (int test = 0; test <= plan.tests(); test++) {
        long began = writer.write(test);
        await(test, listeners, probe);
        report(test, began);
        if (test == 0 && arrivals.values().stream().allMatch(path -> path.distinct() == 0)) {
          throw Failure.run("nothing of what was written was seen: is it the same cluster?", null);
        }
      }
      Thread.sleep(SETTLE_MILLIS);
      listeners.check();
      return results(probe, folder);
    }
  }

  private Arrivals arrivals(StreamPath path) {
    return Objects.requireNonNull(arrivals.get(path));
  }

  private Samples tests(StreamPath path) {
    return Objects.requireNonNull(tests.get(path));
  }

  private MongoCollection<RawBsonDocument> in(MongoClient client) {
    return client.getDatabase(url.database()).getCollection(collection, RawBsonDocument.class);
  }

  private void await(int test, Listeners listeners, @Nullable MajorityProbe probe)
      throws InterruptedException {
    long most = -1;
    long lastNew = SteadyClock.micros();
    while (!arrivals.values().stream().allMatch(path -> path.isComplete(test, point.documents()))) {
      Thread.sleep(POLL_MILLIS);
      listeners.check();
      if (probe != null) {
        probe.check();
      }
      long seen = arrivals.values().stream().mapToLong(Arrivals::distinct).sum();
      long now = SteadyClock.micros();
      if (seen > most) {
        most = seen;
        lastNew = now;
      } else if (now - lastNew > patience.toMillis() * 1_000) {
        return;
      }
    }
  }

  private void report(int test, long began) {
    StringBuilder each = new StringBuilder();
    long slowest = 0;
    boolean complete = true;
    for (StreamPath path : StreamPath.values()) {
      if (arrivals(path).isSignalled(test)) {
        long micros = arrivals(path).lastSignalMicros(test) - began;
        slowest = Math.max(slowest, micros);
        each.append(each.isEmpty() ? "" : ", ").append(path.label()).append(' ');
        each.append(Math.round(micros / 1000.0));
        if (test > 0) {
          tests(path).add(micros);
        }
      }
      complete &= arrivals(path).isComplete(test, point.documents());
    }
    progress.note(
        "%s %s in %d ms (%s)"
            .formatted(
                test == 0 ? "Warm-up" : "Iteration " + (test - 1),
                complete ? "completed" : "NOT COMPLETED",
                Math.round(slowest / 1000.0),
                each));
  }

  private List<PropagateMeasurement> results(@Nullable MajorityProbe probe, Path folder)
      throws IOException {
    Path own = Files.createDirectories(folder.resolve(point.folder()));
    long written = (plan.tests() + 1L) * (point.documents() + shards.size());
    List<PropagateMeasurement> results = new ArrayList<>();
    for (StreamPath path : StreamPath.values()) {
      Arrivals came = arrivals(path);
      came.sinceDue().write(own.resolve(path.label() + "-latency.hlog"));
      came.sinceBegan().write(own.resolve(path.label() + "-service.hlog"));
      tests(path).write(own.resolve(path.label() + "-test.hlog"));
      results.add(
          result(
              path.label(),
              came.sinceDue(),
              came.sinceBegan(),
              tests(path),
              written - came.distinct(),
              came.doubled()));
    }
    if (probe != null) {
      String label = PropagateMeasurement.MAJORITY;
      probe.sinceDue().write(own.resolve(label + "-latency.hlog"));
      probe.sinceBegan().write(own.resolve(label + "-service.hlog"));
      results.add(result(label, probe.sinceDue(), probe.sinceBegan(), null, 0, 0));
    }
    return results;
  }

  private PropagateMeasurement result(
      String path,
      Samples latency,
      Samples service,
      @Nullable Samples test,
      long lost,
      long doubled) {
    return new PropagateMeasurement(
        point.measurement().label(),
        path,
        1,
        1,
        point.documents(),
        point.batch(),
        point.bytes(),
        plan.tests(),
        latency.summary(),
        service.summary(),
        test == null ? null : test.summary(),
        null,
        lost,
        doubled,
        0,
        point.folder());
  }
}
