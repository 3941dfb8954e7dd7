package dev.onehop.measure.delivery;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.resync.ClusterUrl;
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
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Times how long it takes from subscribing until one is live, while others write: to a half of the
 * collection, or to all of it. The first test is not timed. Used once.
 */
final class BootstrapRun {

  private static final int QUERY = 0;
  private static final int OTHERS = 1;

  /** Of each writer. */
  private static final double WRITES_PER_SECOND = 200;

  /** How long writers go on before and after. */
  private static final long WRITING_MILLIS = 300;

  /** Time for what comes again. */
  private static final long SETTLE_MILLIS = 200;

  private final PropagatePlan plan;
  private final PropagatePlan.Point point;
  private final ClusterUrl url;
  private final StreamRequest request;
  private final int run;
  private final List<HashRanges> shards;
  private final Duration patience;
  private final Progress progress;
  private final Map<StreamPath, Found> found = new EnumMap<>(StreamPath.class);

  /** What was found by one path. */
  private static final class Found {
    private final Samples live = new Samples();
    private final Samples read = new Samples();
    private long lost;
    private long doubled;
  }

  /**
   * @param run marks the documents
   * @param shards the hashes of each shard
   * @param patience if what was written has not come after so long, it will not come
   */
  BootstrapRun(
      PropagatePlan plan,
      PropagatePlan.Point point,
      ClusterUrl url,
      StreamRequest request,
      int run,
      List<HashRanges> shards,
      Duration patience,
      Progress progress) {
    this.plan = plan;
    this.point = point;
    this.url = url;
    this.request = request;
    this.run = run;
    this.shards = shards;
    this.patience = patience;
    this.progress = progress;
    for (StreamPath path : StreamPath.values()) {
      found.put(path, new Found());
    }
  }

  /**
   * Measures.
   *
   * @param folder for the logs
   */
  List<PropagateMeasurement> measure(Path folder) throws InterruptedException, IOException {
    boolean part = point.measurement() == Measurement.BOOTSTRAP;
    try (MongoClient writes = Clients.oneHop(url);
        MongoClient reads = Clients.plain(url);
        GroupWriter query = writer(writes, QUERY);
        GroupWriter others = part ? writer(writes, OTHERS) : null) {
      progress.state("inserting");
      query.insertFirst(point.documents());
      if (others != null) {
        others.insertFirst(point.documents());
      }
      for (int test = 0; test <= plan.tests(); test++) {
        query.start(WRITES_PER_SECOND);
        if (others != null) {
          others.start(WRITES_PER_SECOND);
        }
        Thread.sleep(WRITING_MILLIS);
        test(test, reads, query, others);
      }
    }
    return results(folder);
  }

  private GroupWriter writer(MongoClient client, int group) {
    MongoCollection<RawBsonDocument> collection =
        client
            .getDatabase(request.database())
            .getCollection(request.collection(), RawBsonDocument.class)
            .withWriteConcern(WriteConcern.MAJORITY);
    return new GroupWriter(collection, run, group, point.bytes());
  }

  private void test(int test, MongoClient reads, GroupWriter query, @Nullable GroupWriter others)
      throws InterruptedException {
    List<Subscription> subscriptions = new ArrayList<>();
    Map<StreamPath, Subscription> paths = new EnumMap<>(StreamPath.class);
    for (StreamPath path : StreamPath.values()) {
      Subscription subscription =
          new Subscription(
              path,
              request,
              reads,
              run,
              others == null ? null : (Integer) QUERY,
              shards,
              // Each test's and path's own; a subscription has two rounds of them.
              2 * shards.size() * (test * StreamPath.values().length + path.number()),
              patience);
      subscriptions.add(subscription);
      paths.put(path, subscription);
    }
    try {
      SideBySide.run(
          subscriptions.stream()
              .<SideBySide.Part>map(each -> () -> each.subscribe(QUERY))
              .toList());
      Thread.sleep(WRITING_MILLIS);
      Map<Long, Integer> written = query.stop();
      if (others != null) {
        var unused = others.stop();
      }
      SideBySide.run(
          subscriptions.stream()
              .<SideBySide.Part>map(each -> () -> each.awaitWritten(QUERY))
              .toList());
      Thread.sleep(SETTLE_MILLIS);
      StringBuilder each = new StringBuilder();
      paths.forEach((path, subscription) -> add(test, path, subscription, written, each));
      long slowest = subscriptions.stream().mapToLong(Subscription::liveMicros).max().orElse(0);
      progress.note(
          "%s completed in %d ms (%s)"
              .formatted(
                  test == 0 ? "Warm-up" : "Iteration " + (test - 1),
                  Math.round(slowest / 1000.0),
                  each));
    } finally {
      subscriptions.forEach(Subscription::close);
    }
  }

  private void add(
      int test,
      StreamPath path,
      Subscription subscription,
      Map<Long, Integer> written,
      StringBuilder text) {
    Found its = Objects.requireNonNull(found.get(path));
    ChangeChecker.Verdict verdict = subscription.checker().verdict(written);
    its.lost += verdict.lost();
    its.doubled += verdict.doubled();
    if (test > 0) {
      its.live.add(subscription.liveMicros());
      its.read.add(subscription.readMicros());
    }
    text.append(text.isEmpty() ? "" : ", ").append(path.label()).append(' ');
    text.append(Math.round(subscription.liveMicros() / 1000.0));
    text.append(": ").append(subscription.checker().documents()).append(" read, ");
    text.append(subscription.checker().seen()).append(" changes");
  }

  private List<PropagateMeasurement> results(Path folder) throws IOException {
    Path own = Files.createDirectories(folder.resolve(point.folder()));
    List<PropagateMeasurement> results = new ArrayList<>();
    found.forEach(
        (path, its) -> {
          its.live.write(own.resolve(path.label() + "-latency.hlog"));
          its.read.write(own.resolve(path.label() + "-snapshot.hlog"));
          results.add(
              new PropagateMeasurement(
                  point.measurement().label(),
                  path.label(),
                  1,
                  1,
                  point.documents(),
                  point.batch(),
                  point.bytes(),
                  plan.tests(),
                  its.live.summary(),
                  null,
                  null,
                  its.read.summary(),
                  its.lost,
                  its.doubled,
                  0,
                  point.folder()));
        });
    return results;
  }
}
