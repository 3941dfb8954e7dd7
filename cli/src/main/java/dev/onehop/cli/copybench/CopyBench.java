package dev.onehop.cli.copybench;

import com.mongodb.client.MongoDatabase;
import dev.onehop.cli.bench.Progress;
import dev.onehop.cli.bench.RunContext;
import dev.onehop.cli.bench.StandaloneRun;
import dev.onehop.cli.copybench.Sampler.Written;
import dev.onehop.cli.results.CopyBenchResults;
import dev.onehop.cli.results.CopyBenchRun;
import dev.onehop.cli.results.LatencySummary;
import dev.onehop.cli.results.RunFacts;
import dev.onehop.cli.results.ServerFacts;
import dev.onehop.cli.results.TopologyFacts;
import dev.onehop.cli.results.TopologyFacts.HostFacts;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.ServerInfo;
import dev.onehop.testbed.Testbed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Copies from a cluster of its own to another one by both ways, one after the other, in turns.
 * Writes {@code results.json} after each copy.
 */
public final class CopyBench extends StandaloneRun<CopyBenchResults> {
  private static final int SOURCE_NETWORK = 69;
  private static final int DESTINATION_NETWORK = 70;
  private static final int RANGES = 48;
  private static final double PER_SECOND = 1e9;

  /** How long writes go on before lags are measured. */
  private static final Duration WARM_UP = Duration.ofSeconds(3);

  private final CopyBenchPlan plan;
  private final Progress progress;
  private final List<CopyBenchRun> runs = new ArrayList<>(); // guarded by this
  private volatile @Nullable ServerInfo server;

  /**
   * Prepares it.
   *
   * @param context what results say besides
   */
  public CopyBench(CopyBenchPlan plan, Progress progress, RunContext context) {
    super(context);
    this.plan = plan;
    this.progress = progress;
  }

  @Override
  public void run() throws IOException, InterruptedException {
    sharded();
    if (plan.kinds().contains(CopyBenchRun.FULL)) {
      replicaSets();
    }
  }

  private void sharded() throws IOException, InterruptedException {
    progress.phase("starting the source");
    try (Side source = Side.of(start("copy-source", SOURCE_NETWORK, 1))) {
      server = Objects.requireNonNull(source.testbed()).server();
      progress.phase("starting the destination");
      try (Side destination = Side.of(start("copy-destination", DESTINATION_NETWORK, 3));
          Workers workers = new Workers(source, destination, CopyBenchRun.SHARDED)) {
        if (plan.kinds().contains(CopyBenchRun.FULL)) {
          for (int collections : plan.collections()) {
            full(source, destination, workers, CopyBenchRun.SHARDED, collections);
          }
        }
        if (plan.kinds().contains(CopyBenchRun.INCREMENTAL)
            || plan.kinds().contains(CopyBenchRun.LAG)) {
          changes(source, destination, workers);
        }
      }
    }
  }

  private Testbed start(String name, int network, int routers) {
    return Testbed.builder(Side.topology(name, network, routers))
        .mongod(plan.mongod())
        .mongos(plan.mongos())
        // Long enough for the optimizing compiler to help stand-in routers, too.
        .longRun(true)
        .start();
  }

  private void replicaSets() throws IOException, InterruptedException {
    progress.phase("starting replica sets");
    Path mongod = MongodProcess.find(plan.mongod(), progress::note);
    Path folder = Files.createTempDirectory("onehop-copy");
    try (Side source = Side.replicaSet(mongod, "source", "127.69.0.9", folder.resolve("source"));
        Side destination =
            Side.replicaSet(mongod, "destination", "127.70.0.9", folder.resolve("destination"));
        Workers workers = new Workers(source, destination, CopyBenchRun.REPLICA_SET)) {
      full(source, destination, workers, CopyBenchRun.REPLICA_SET, plan.collections().get(0));
    } finally {
      delete(folder);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** The processes that copy, each for all copies of its way, so that they are warm. */
  private final class Workers implements AutoCloseable {
    private final Map<Way, Worker> all = new EnumMap<>(Way.class);

    Workers(Side source, Side destination, String setup) throws IOException {
      try {
        for (Way way : Way.values()) {
          boolean one = way == Way.ONE;
          all.put(
              way,
              Worker.start(
                  new WorkerTask(
                      way,
                      one ? source.urlOfOne() : source.url(),
                      one ? destination.urlOfOne() : destination.url()),
                  context().out().resolve("logs/" + setup.replace(' ', '-') + "-" + way.label())));
        }
      } catch (IOException | RuntimeException e) {
        close();
        throw e;
      }
    }

    Worker of(Way way) {
      return Objects.requireNonNull(all.get(way));
    }

    @Override
    public void close() {
      all.values().forEach(Worker::close);
    }
  }

  /** Writes the source anew. */
  private @Nullable RangeMover load(Side source, Workload workload, int collections)
      throws InterruptedException {
    progress.phase("writing " + plan.records() + " documents");
    MongoDatabase database = source.client().getDatabase(Workload.DATABASE);
    Testbed testbed = source.testbed();
    for (String old : database.listCollectionNames()) {
      if (testbed == null) {
        database.getCollection(old).drop();
      } else {
        testbed.dropCollection(Workload.DATABASE + "." + old);
      }
    }
    if (testbed == null) {
      workload.load(plan.records(), collections);
      return null;
    }
    List<BsonDocument> bounds = YcsbDocuments.bounds(RANGES);
    List<String> namespaces =
        names(collections).stream().map(name -> Workload.DATABASE + "." + name).toList();
    for (String namespace : namespaces) {
      testbed.shardCollection(namespace, new BsonDocument("_id", new BsonInt32(1)), bounds);
    }
    workload.load(plan.records(), collections);
    return new RangeMover(testbed, namespaces, bounds);
  }

  private static List<String> names(int collections) {
    return IntStream.range(0, collections).mapToObj(Workload::collection).toList();
  }

  private void full(Side source, Side destination, Workers workers, String setup, int collections)
      throws InterruptedException {
    try (RangeMover mover = load(source, new Workload(source.client()), collections)) {
      String work = "full " + String.join(" ", names(collections));
      // Round 0 is not measured: processes and routers are as quick as they are after a while.
      for (int round = 0; round <= plan.rounds(); round++) {
        for (Way way : order(round)) {
          Copy copy = new Copy(CopyBenchRun.FULL, setup, collections, way, round);
          show(copy);
          run(copy.way(), source, destination, EnumSet.of(CopyPhase.STRUCTURE));
          Worker worker = workers.of(way);
          CopyBenchRun result =
              measure(
                  copy,
                  source,
                  destination,
                  worker,
                  mover,
                  () -> {
                    worker.run(work);
                    return (long) (plan.records() / collections) * collections;
                  });
          drop(destination, way);
          add(result);
        }
      }
    }
  }

  /** A copy that is measured. */
  private record Copy(String kind, String setup, int collections, Way way, int round) {}

  private void show(Copy copy) {
    progress.phase(
        "%s, %s, %d of %d: %s"
            .formatted(
                copy.kind(),
                copy.setup(),
                copy.round(),
                plan.rounds(),
                copy.round() == 0 ? copy.way().label() + ", unmeasured" : copy.way().label()));
  }

  /** Every other round begins with the other way. */
  private static List<Way> order(int round) {
    return round % 2 == 0 ? List.of(Way.ONE, Way.OURS) : List.of(Way.OURS, Way.ONE);
  }

  /** The same for both ways: the destination is as OneHop makes it. */
  private static void run(Way way, Side source, Side destination, Set<CopyPhase> phases)
      throws InterruptedException {
    try (ClusterCopy copy =
        OurWork.copy(way, source.url(), destination.url(), Begin.OVERWRITE, phases)) {
      copy.run();
    }
  }

  private static void drop(Side destination, Way way) {
    MongoDatabase database = destination.client().getDatabase(way.label());
    Testbed testbed = destination.testbed();
    for (String collection : database.listCollectionNames()) {
      if (testbed == null) {
        database.getCollection(collection).drop();
      } else {
        testbed.dropCollection(way.label() + "." + collection);
      }
    }
  }

  /** What is measured. */
  @FunctionalInterface
  private interface Task {
    /** Does it, and says how many documents or changes it was. */
    long run() throws InterruptedException;
  }

  private CopyBenchRun measure(
      Copy copy,
      Side source,
      Side destination,
      Worker worker,
      @Nullable RangeMover mover,
      Task task)
      throws InterruptedException {
    var unused = worker.use();
    Side.Counts sourceBefore = source.counts();
    Side.Counts destinationBefore = destination.counts();
    if (mover != null) {
      int unusedMoves = mover.moved();
      mover.setActive(true);
    }
    long documents;
    Sampler sampler = Sampler.start(destination);
    Written written;
    try {
      documents = task.run();
    } finally {
      written = sampler.stop();
    }
    if (mover != null) {
      mover.setActive(false);
    }
    WorkerUse use = worker.use();
    Side.Counts given = source.counts().since(sourceBefore);
    Side.Counts taken = destination.counts().since(destinationBefore);
    return new CopyBenchRun(
        copy.kind(),
        copy.setup(),
        copy.collections(),
        copy.way().label(),
        copy.round(),
        documents,
        written.startSeconds(),
        written.seconds(),
        documents * (1 - 2 * Sampler.MARGIN) / written.seconds(),
        given.returned(),
        taken.written(),
        taken.routed(),
        use.cpuNanos() / PER_SECOND,
        given.routersCpu().plus(taken.routersCpu()).toNanos() / PER_SECOND,
        given.mongodsCpu().plus(taken.mongodsCpu()).toNanos() / PER_SECOND,
        use.memoryBytes(),
        mover == null ? 0 : mover.moved(),
        isEqual(source, destination, copy.way()),
        null,
        written.series());
  }

  private boolean isEqual(Side source, Side destination, Way way) throws InterruptedException {
    progress.state("comparing");
    VerifyReport report =
        ClusterVerification.builder(source.url(), destination.url())
            .include(List.of(Workload.DATABASE))
            .rename(Map.of(Workload.DATABASE, way.label()))
            .build()
            .run();
    if (!report.isEqual()) {
      progress.note(
          "%s: %d missing, %d extra, %d different, %d unsettled: %s %s"
              .formatted(
                  way.label(),
                  report.missing(),
                  report.extra(),
                  report.different(),
                  report.unsettled(),
                  report.details(),
                  report.metadata()));
    }
    progress.state("");
    return report.isEqual();
  }

  private void changes(Side source, Side destination, Workers workers) throws InterruptedException {
    Workload workload = new Workload(source.client());
    try (RangeMover mover = load(source, workload, 1)) {
      for (Way way : Way.values()) {
        progress.phase("copying for " + way.label());
        run(way, source, destination, EnumSet.of(CopyPhase.STRUCTURE, CopyPhase.FULL));
      }
      if (plan.kinds().contains(CopyBenchRun.INCREMENTAL)) {
        backlogs(source, destination, workers, workload, Objects.requireNonNull(mover));
      }
      if (plan.kinds().contains(CopyBenchRun.LAG)) {
        lags(source, destination, workers, workload, Objects.requireNonNull(mover));
      }
    }
    for (Way way : Way.values()) {
      drop(destination, way);
    }
  }

  private void backlogs(
      Side source, Side destination, Workers workers, Workload workload, RangeMover mover)
      throws InterruptedException {
    for (int round = 0; round <= plan.rounds(); round++) {
      progress.phase("writing " + plan.operations() + " inserts and updates");
      BsonTimestamp start = source.now();
      workload.write(plan.operations());
      for (Way way : order(round)) {
        Copy copy = new Copy(CopyBenchRun.INCREMENTAL, CopyBenchRun.SHARDED, 1, way, round);
        show(copy);
        Worker worker = workers.of(way);
        add(
            measure(
                copy,
                source,
                destination,
                worker,
                mover,
                () -> {
                  worker.run("follow " + start.getValue());
                  worker.run("await " + plan.operations());
                  worker.run("unfollow");
                  return plan.operations();
                }));
      }
    }
  }

  private void lags(
      Side source, Side destination, Workers workers, Workload workload, RangeMover mover)
      throws InterruptedException {
    Map<Way, BsonTimestamp> places = new EnumMap<>(Way.class);
    BsonTimestamp before = source.now();
    for (Way way : Way.values()) {
      places.put(way, before);
    }
    Map<Way, Long> behind = new EnumMap<>(Way.class);
    for (int round = 1; round <= plan.rounds(); round++) {
      for (Way way : order(round)) {
        Copy copy = new Copy(CopyBenchRun.LAG, CopyBenchRun.SHARDED, 1, way, round);
        show(copy);
        Worker worker = workers.of(way);
        BsonTimestamp start = Objects.requireNonNull(places.get(way));
        long missed = behind.getOrDefault(way, 0L);
        long[] all = new long[1];
        LatencySummary[] lags = new LatencySummary[1];
        CopyBenchRun measured =
            measure(
                copy,
                source,
                destination,
                worker,
                mover,
                () -> {
                  worker.run("follow " + start.getValue());
                  worker.run("await " + missed);
                  try (LagWatch watch =
                      new LagWatch(
                          destination, way.label(), Workload.collection(0), destination.now())) {
                    long first = workload.write(plan.rate(), WARM_UP);
                    watch.begin();
                    long second = workload.write(plan.rate(), plan.duration());
                    watch.end();
                    all[0] = first + second;
                    worker.run("await " + (missed + all[0]));
                    lags[0] = LatencySummary.of(watch.lags());
                  }
                  worker.run("unfollow");
                  return missed + all[0];
                });
        places.put(way, source.now());
        behind.put(way, 0L);
        Way other = way == Way.ONE ? Way.OURS : Way.ONE;
        behind.merge(other, all[0], Long::sum);
        add(withLag(measured, Objects.requireNonNull(lags[0])));
      }
    }
  }

  private CopyBenchRun withLag(CopyBenchRun run, LatencySummary lag) {
    return new CopyBenchRun(
        run.kind(),
        run.setup(),
        run.collections(),
        run.way(),
        run.round(),
        run.documents(),
        run.startSeconds(),
        run.seconds(),
        plan.rate(),
        run.read(),
        run.written(),
        run.routed(),
        run.toolCpuSeconds(),
        run.routersCpuSeconds(),
        run.serversCpuSeconds(),
        run.memoryBytes(),
        run.moves(),
        run.equal(),
        lag,
        run.series());
  }

  private synchronized void add(CopyBenchRun run) {
    if (run.round() > 0 || !run.equal()) {
      runs.add(run);
      write();
    }
  }

  private int planned() {
    int points =
        plan.kinds().size()
            + (plan.kinds().contains(CopyBenchRun.FULL) ? plan.collections().size() : 0);
    return points * Way.values().length * plan.rounds();
  }

  @Override
  public synchronized @Nullable CopyBenchResults results() {
    ServerInfo known = server;
    if (known == null || runs.isEmpty()) {
      return null;
    }
    List<HostFacts> hosts = new ArrayList<>();
    for (String side : List.of("source", "destination")) {
      for (int shard = 1; shard <= 3; shard++) {
        List<String> roles = new ArrayList<>(List.of("shard-" + shard));
        if (shard == 1) {
          roles.add("config");
        }
        if (shard == 1 || side.equals("destination")) {
          roles.add("router");
        }
        hosts.add(new HostFacts(side + " " + shard, "here", roles));
      }
    }
    return new CopyBenchResults(
        new RunFacts(
            context().started(),
            context().command(),
            runs.stream().filter(run -> run.round() > 0).count() == planned(),
            stopReason(),
            planned(),
            plan.records(),
            "documents as of YCSB, ten fields of 100 bytes; inserts and updates 70 to 30, zipfian",
            Map.of(),
            null,
            List.of(),
            plan.rounds(),
            1,
            null,
            null),
        new TopologyFacts(
            "three shards to three shards",
            "here",
            List.of("here"),
            new TopologyFacts.RoundTrips(Map.of(), Map.of()),
            hosts),
        new ServerFacts(
            known.mongodVersion(),
            new ServerFacts.Router(known.router().label(), known.routerVersion()),
            known.featureCompatibilityVersion()),
        context().machine(),
        List.copyOf(runs));
  }
}
