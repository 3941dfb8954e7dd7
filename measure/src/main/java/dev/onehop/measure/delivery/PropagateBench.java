package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.PropagateResults.Streams;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * {@code onehop propagate}: measures the time from each row's write until its arrival, for every
 * path.
 */
public final class PropagateBench
    implements Bench<PropagatePlan.Point, List<PropagateMeasurement>, PropagateResults> {

  /** The name of the collection, in the database of the cluster's URL. */
  static final String COLLECTION = "onehop_propagate";

  private static final int CHUNKS_PER_SHARD = 2;
  private static final int MOST_ATTEMPTS = 3;

  private final PropagatePlan plan;
  private final boolean standInWaits;
  private Map<String, Double> noops = Map.of();

  // The number that marks the rows of this run, because events of earlier runs may still arrive.
  private int run = ThreadLocalRandom.current().nextInt(1 << 20) << 10;

  /**
   * Creates a bench for a plan.
   *
   * @param standInWaits whether a stream of a stand-in router delivers an event only after each
   *     shard has reported a later time; a stream of a mongos always does so
   */
  public PropagateBench(PropagatePlan plan, boolean standInWaits) {
    this.plan = plan;
    this.standInWaits = standInWaits;
  }

  @Override
  public void prepare(Session session) {
    session.progress().phase("sharding " + COLLECTION);
    RowCollection.prepare(session.cluster(), COLLECTION, CHUNKS_PER_SHARD);
    try (RowCollection collection = new RowCollection(session.cluster().url(), COLLECTION)) {
      noops = NoopIntervals.read(session.cluster().url(), collection.shards());
    }
  }

  @Override
  public List<PropagatePlan.Point> cells() {
    return plan.points();
  }

  @Override
  public Duration estimate(PropagatePlan.Point point, Session session) {
    return plan.estimate(point, noopSeconds());
  }

  /** The longest no-op interval of a server in seconds. A mongos' stream waits for this no-op. */
  private double noopSeconds() {
    return noops.values().stream().mapToDouble(seconds -> seconds).max().orElse(10);
  }

  /**
   * Measures again if shards or chunks have changed during the measurement, because some shards
   * then have no signal. A measurement with lost or repeated rows counts in any case.
   */
  @Override
  public List<PropagateMeasurement> measure(PropagatePlan.Point point, Session session)
      throws IOException, InterruptedException {
    Progress progress = session.progress();
    progress.heading(point.title() + ":");
    Path folder = Files.createDirectories(session.folder().resolve(point.folder()));
    try (RowCollection collection = new RowCollection(session.cluster().url(), COLLECTION)) {
      for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        noops = NoopIntervals.read(session.cluster().url(), collection.shards());
        collection.clear();
        RowCollection.Placement before = collection.placement();
        int bytes = point.measurement().isPropagation() ? point.bytes() : Row.LEAST_BYTES;
        Signals signals = new Signals(run++, bytes, before.hashes(), patience());
        List<PropagateMeasurement> found =
            switch (point.measurement()) {
              case LOAD -> new LoadRun(plan, point, signals, session).measure(folder);
              case BOOTSTRAP, INITIAL_SYNC ->
                  new Bootstrap(plan, point, collection, signals, session).measure(folder);
              case CLIENT_TO_CLIENT, MONGO_TO_CLIENT, CLIENT_TO_MONGO ->
                  new Propagation(plan, point, collection, signals, session).measure(folder);
            };
        if (collection.placement().equals(before)
            || found.stream().anyMatch(each -> each.faults() > 0)) {
          collection.clear();
          noteFaults(found, progress);
          return found;
        }
        progress.note(
            "Shards or chunks of %s changed during this measurement, so it does not count."
                .formatted(COLLECTION));
      }
    }
    throw Failure.run(
        "shards or chunks of %s changed in each of %d attempts; stop the balancer for this collection"
            .formatted(COLLECTION, MOST_ATTEMPTS),
        null);
  }

  /**
   * The time after which missing signals count as lost. It is longer than all usual waits of a
   * mongos: first for the no-op of an idle server, and then until that server stops waiting for
   * events. A server may skip one no-op, so the time has room for two.
   */
  private Duration patience() {
    return Duration.ofSeconds(30)
        .plus(Duration.ofMillis((long) (2_000 * noopSeconds())))
        .plus(plan.await().multipliedBy(2));
  }

  private static void noteFaults(List<PropagateMeasurement> found, Progress progress) {
    for (PropagateMeasurement each : found) {
      if (each.faults() > 0) {
        progress.note(
            "%s by %s: %d LOST, %d DOUBLED"
                .formatted(each.name(), each.path(), each.lost(), each.doubled()));
      }
    }
  }

  @Override
  public @Nullable PropagateResults results(
      List<Measured<PropagatePlan.Point, List<PropagateMeasurement>>> measured, Session session) {
    if (measured.isEmpty()) {
      return null;
    }
    List<String> missing =
        noops.size() > session.cluster().shardHosts().size()
            ? List.of()
            : List.of("the no-op interval of some servers, which do not report it to this user");
    RunFacts.Load load =
        RunFacts.Load.of(
            Collections.max(plan.documents()),
            "objects, and then a signal document on each shard",
            missing,
            plan.tests(),
            0);
    boolean standIn = session.cluster().server().router().isStandIn();
    return new PropagateResults(
        session.envelope(plan.points().size(), load),
        new Streams(
            plan.await().toMillis(),
            noops,
            plan.total() ? "total" : "key",
            standInWaits && standIn),
        measured.stream().flatMap(each -> each.point().stream()).toList());
  }
}
