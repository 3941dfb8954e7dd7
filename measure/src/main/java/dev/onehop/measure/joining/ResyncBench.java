package dev.onehop.measure.joining;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.InsertManyOptions;
import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.Folders;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.report.Format;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.ResyncCell;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.resync.DataFolder;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Interruption;
import dev.onehop.resync.Member;
import dev.onehop.resync.Outcome;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Resync;
import dev.onehop.resync.ResyncMethod;
import dev.onehop.resync.ResyncPlan;
import dev.onehop.resync.Target;
import dev.onehop.testbed.MongodProcess;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Starts a replica set and measures the methods of adding a member to it. The data of a load is
 * written once. Each round adds a member by each method, in random order.
 */
public final class ResyncBench implements Bench<ResyncBench.Load, List<ResyncCell>, ResyncResults> {

  private static final String DATABASE = "data";
  private static final int BATCH = 1_000;
  private static final Duration LOCK_DEADLINE = Duration.ofMinutes(30);
  private static final Duration PATIENCE = Duration.ofHours(2);

  /**
   * The needed disk space, as a multiple of the size of the documents and one oplog. The two
   * members and the new member have the data, with indexes, journals and oplogs.
   */
  private static final double ROOM = 4;

  private final ResyncBenchPlan plan;
  private final long begun = System.nanoTime();
  private final Random random;
  private @Nullable Path folder;
  private @Nullable Path parent;
  private @Nullable BenchReplicaSet set;
  private @Nullable ServerFacts server;
  private Set<Path> ofData = Set.of();
  private int nextWrite;
  private int loads;

  /** Creates a bench without servers. Servers start with the preparation. */
  public ResyncBench(ResyncBenchPlan plan) {
    this.plan = plan;
    this.random = new Random(plan.seed());
  }

  /**
   * The data of the members.
   *
   * @param mebibytes the size of all documents
   * @param indexes the number of secondary indexes of each collection
   */
  public record Load(int mebibytes, int collections, int indexes) implements Cell {
    @Override
    public String title() {
      return "%d MiB, %s, %s"
          .formatted(
              mebibytes,
              Format.counted(collections, "collection"),
              Format.counted(indexes, "index"));
    }
  }

  /** The written data of a load. */
  private record Written(long bytes, long documents) {}

  @Override
  public void prepare(Session session) throws IOException, InterruptedException {
    Path mongod = MongodProcess.find(plan.mongod(), session.progress()::note);
    folder = folder();
    set = new BenchReplicaSet(mongod, folder, plan.oplogMebibytes(), session::serverDied);
    session.progress().phase("starting a replica set");
    set.start();
    server = ServerFacts.of(set.primary().client());
  }

  private Path folder() throws IOException {
    Path given = plan.folder();
    if (given != null && Files.notExists(given)) {
      parent = Files.createDirectories(given);
    }
    Path made =
        given == null
            ? Files.createTempDirectory("onehop-resync")
            : Files.createTempDirectory(given, "resync");
    FileStore store = Files.getFileStore(made);
    double needed = ROOM * (Collections.max(plan.mebibytes()) + plan.oplogMebibytes() + 300.0);
    double free = store.getUsableSpace() / 1048576.0;
    if (free < needed) {
      Folders.delete(made);
      throw Failure.usage(
          "%s has %,.0f MiB free, but these sizes need %,.0f MiB".formatted(made, free, needed));
    }
    return made;
  }

  /**
   * Returns the loads, the largest first. The largest load fills the oplogs, so all measurements
   * have full oplogs.
   */
  @Override
  public List<Load> cells() {
    List<Load> cells = new ArrayList<>();
    for (int size : plan.mebibytes().stream().sorted(Collections.reverseOrder()).toList()) {
      for (int collections : plan.collections()) {
        plan.indexes().forEach(indexes -> cells.add(new Load(size, collections, indexes)));
      }
    }
    return cells;
  }

  @Override
  public List<ResyncCell> measure(Load load, Session session) throws InterruptedException {
    BenchReplicaSet members = Objects.requireNonNull(set);
    Progress progress = session.progress();
    loads++;
    Written written = write(members, load, progress);
    Map<ResyncMethod, Runs> runs = new EnumMap<>(ResyncMethod.class);
    plan.methods().forEach(method -> runs.put(method, new Runs()));
    for (int round = 0; round < plan.rounds() && (round == 0 || hasTime()); round++) {
      List<ResyncMethod> order = new ArrayList<>(plan.methods());
      Collections.shuffle(order, random);
      for (ResyncMethod method : order) {
        progress.state("round " + (round + 1) + ", " + method.label());
        run(members, method, Objects.requireNonNull(runs.get(method)));
        Interruption.check();
      }
    }
    List<ResyncCell> cells = new ArrayList<>();
    runs.forEach((method, its) -> cells.add(cell(method, load, written, its)));
    return cells;
  }

  private Written write(BenchReplicaSet set, Load load, Progress progress)
      throws InterruptedException {
    drop(set);
    long bytes = (long) load.mebibytes() << 20;
    long written = 0;
    long documents = 0;
    for (int n = 0; n < load.collections(); n++) {
      MongoCollection<RawBsonDocument> collection =
          set.primary()
              .client()
              .getDatabase(DATABASE)
              // With write concern 2, writes wait for the secondary. Otherwise it could fall behind
              // the primary's oplog.
              .withWriteConcern(WriteConcern.W2)
              .getCollection("c" + n, RawBsonDocument.class);
      for (int field = 0; field < load.indexes(); field++) {
        collection.createIndex(Indexes.ascending("fld" + field));
      }
      SampleDocuments sample = new SampleDocuments(plan.seed(), n);
      long goal = bytes / load.collections() * (n + 1);
      while (written < goal) {
        List<RawBsonDocument> batch = new ArrayList<>();
        while (written < goal && batch.size() < BATCH) {
          RawBsonDocument document = sample.next();
          written += document.getByteBuffer().remaining();
          batch.add(document);
        }
        collection.insertMany(batch, new InsertManyOptions().ordered(false));
        documents += batch.size();
        progress.state("writing, %,d of %,d MiB".formatted(written >> 20, bytes >> 20));
        Interruption.check();
      }
    }
    set.awaitCaughtUp(set.source());
    ofData = set.filesOf(DATABASE);
    return new Written(written, documents);
  }

  /**
   * Drops the data, and waits until its files are deleted. A file that remains becomes a part of
   * the next copy.
   */
  private void drop(BenchReplicaSet set) throws InterruptedException {
    DataFolder files = set.sourceFolder();
    set.primary().client().getDatabase(DATABASE).withWriteConcern(WriteConcern.W2).drop();
    set.await(
        "files of dropped data to be deleted",
        () -> {
          try {
            set.source().admin("fsync");
            return Collections.disjoint(files.files().keySet(), ofData);
          } catch (IOException e) {
            return false;
          }
        });
  }

  /** The measurements of a method. */
  private static final class Runs {
    private final List<Double> seconds = new ArrayList<>();
    private final List<Double> locked = new ArrayList<>();
    private final List<Double> moved = new ArrayList<>();
    private final ForegroundLoad.Latencies reads = new ForegroundLoad.Latencies();
    private final ForegroundLoad.Latencies writes = new ForegroundLoad.Latencies();
    private boolean proved = true;
    private boolean equal = true;
    private boolean shared;
    private long written;
    private long lost;
  }

  /** Whether the time for this data is enough for another round. */
  private boolean hasTime() {
    Duration within = plan.within();
    return within == null || System.nanoTime() - begun < within.toNanos() / plan.loads() * loads;
  }

  private void run(BenchReplicaSet set, ResyncMethod method, Runs runs)
      throws InterruptedException {
    Target target = set.newTarget();
    ProcessHandle process = null;
    try {
      int first = nextWrite;
      Outcome outcome;
      ForegroundLoad meanwhile =
          new ForegroundLoad(set.primary(), set.source(), first, runs.writes, runs.reads);
      try {
        outcome = new Resync(plan(set, method, target), Progress.silent(), meanwhile).run().get(0);
        process = Objects.requireNonNull(outcome.process());
      } finally {
        meanwhile.close();
        nextWrite = meanwhile.next() + 1;
      }
      runs.written += meanwhile.next() - first;
      set.awaitCaughtUp(set.source());
      try (Member made = set.member(target.host())) {
        set.awaitCaughtUp(made);
        runs.lost += meanwhile.lostOn(made);
        runs.equal &= set.isEqual(made, List.of(DATABASE, ForegroundLoad.DATABASE));
      }
      runs.seconds.add(seconds(outcome.total()));
      runs.moved.add((double) outcome.bytes());
      runs.proved &= !outcome.proof().isEmpty();
      runs.shared |= outcome.shared();
      if (outcome.locked() != null) {
        runs.locked.add(seconds(outcome.locked()));
      }
    } finally {
      if (process != null) {
        set.remove(target, process);
      }
    }
  }

  private static ResyncPlan plan(BenchReplicaSet set, ResyncMethod method, Target target) {
    return new ResyncPlan(
        set.url(),
        method,
        set.source().host(),
        null,
        List.of(target),
        false,
        false,
        true,
        null,
        set.startCommand(target),
        LOCK_DEADLINE,
        PATIENCE,
        null,
        // The expected rate of the copy. A given rate replaces a measurement of the copy. It is so
        // high that the oplog counts as large enough for the writes during the copy.
        1e6);
  }

  private static double seconds(Duration time) {
    return time.toMillis() / 1000.0;
  }

  private static ResyncCell cell(ResyncMethod method, Load load, Written written, Runs runs) {
    return new ResyncCell(
        method.label(),
        load.indexes(),
        load.collections(),
        written.bytes(),
        written.documents(),
        runs.seconds,
        null,
        null,
        (long) ResyncCell.median(runs.moved),
        runs.proved,
        runs.equal,
        runs.locked.isEmpty() ? null : (Double) ResyncCell.median(runs.locked),
        runs.shared,
        runs.written,
        runs.lost,
        LatencySummary.of(runs.reads.open()),
        summary(runs.reads.locked()),
        LatencySummary.of(runs.writes.open()),
        summary(runs.writes.locked()));
  }

  private static @Nullable LatencySummary summary(Histogram histogram) {
    return histogram.getTotalCount() == 0 ? null : LatencySummary.of(histogram);
  }

  @Override
  public @Nullable ResyncResults results(
      List<Measured<Load, List<ResyncCell>>> measured, Session session) {
    List<ResyncCell> cells = measured.stream().flatMap(each -> each.point().stream()).toList();
    if (set == null || server == null || cells.isEmpty()) {
      return null;
    }
    RunFacts.Load load =
        RunFacts.Load.of(
            cells.stream().mapToLong(ResyncCell::documents).max().orElse(0),
            "documents in POCDriver's format, with nested arrays and texts; oplogs of "
                + plan.oplogMebibytes()
                + " MiB",
            List.of(),
            plan.rounds(),
            plan.seed());
    return ResyncResults.of(
        session.envelope(
            plan.cells(),
            load,
            TopologyFacts.here(
                "replica set",
                List.of(
                    new HostFacts(set.primary().host(), "here", List.of("primary")),
                    new HostFacts(set.source().host(), "here", List.of("hidden secondary")))),
            server),
        cells);
  }

  @Override
  public void close() {
    if (set != null) {
      set.close();
    }
    Stream.of(folder, parent).filter(Objects::nonNull).forEach(Folders::delete);
  }
}
