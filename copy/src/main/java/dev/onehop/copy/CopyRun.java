package dev.onehop.copy;

import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.MongoNamespace;
import com.mongodb.client.model.Filters;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.OperationsBehind;
import dev.onehop.copy.internal.cluster.Rights;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.CopiedCollection;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.internal.full.Forecast;
import dev.onehop.copy.internal.full.FullCopy;
import dev.onehop.copy.internal.full.Limits;
import dev.onehop.copy.internal.full.Plan;
import dev.onehop.copy.internal.full.RangePlanner;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.DestinationStructure;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.copy.internal.structure.SourceStructure;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One run of a copy, phase by phase. */
final class CopyRun {
  private static final Logger log = LoggerFactory.getLogger(CopyRun.class);
  static final int FORMAT = 1;
  private static final int THREADS = 2;
  private static final Set<String> OF_SERVERS = Set.of("admin", "config", "local");

  private volatile CopySettings settings;
  private final Counts counts = new Counts();
  private final Limits limits;
  private final ProgressMeter meter;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final AtomicReference<@Nullable Thread> runner = new AtomicReference<>();
  private volatile boolean closed;

  CopyRun(CopySettings settings) {
    this.settings = settings;
    this.limits = new Limits(settings.documentsPerSecond(), settings.bytesPerSecond());
    this.meter = new ProgressMeter(settings.job(), counts);
  }

  CopyProgress progress() {
    return meter.progress();
  }

  void close() {
    closed = true;
    Thread running = runner.get();
    if (running != null) {
      running.interrupt();
    }
  }

  private void note(String text) {
    log.info("{}", text);
    meter.note(text);
  }

  void run() throws InterruptedException {
    if (!begun.compareAndSet(false, true)) {
      throw new IllegalStateException("a copy runs once");
    }
    runner.set(Thread.currentThread());
    if (closed) {
      throw new InterruptedException();
    }
    try (ClusterEnd source =
            ClusterEnd.connect("source", settings.from(), settings.fromSettings(), false, THREADS);
        ClusterEnd destination =
            ClusterEnd.connect(
                "destination", settings.to(), settings.toSettings(), true, THREADS)) {
      run(source, destination);
    } catch (CopyException known) {
      throw known;
    } catch (RuntimeException failure) {
      throw new CopyException(Waits.reason(failure), failure);
    } finally {
      runner.set(null);
    }
  }

  private void run(ClusterEnd source, ClusterEnd destination) throws InterruptedException {
    Set<String> same = new HashSet<>(patiently(source::identity));
    same.retainAll(patiently(destination::identity));
    if (!same.isEmpty()) {
      throw new CopyException("source and destination are the same cluster", null);
    }
    for (ClusterEnd end : List.of(source, destination)) {
      patiently(
          () -> {
            end.checkVersion();
            return true;
          });
    }
    if (settings.reverse()) {
      settings = settings.with(patiently(() -> Reversal.mapping(source, destination, settings)));
    }
    patiently(
        () -> {
          checkRights(source, destination);
          return true;
        });
    Job job = new Job(destination, ClusterCopy.STATE_DATABASE, settings.job(), settings.lease());
    begin(source, destination, job);
    try {
      new LeaseKeeping(job, settings.lease(), limits, meter)
          .during(() -> counted(source, destination, job));
      // Not before: nobody can keep a job that was given up.
      release(job);
    } catch (InterruptedException e) {
      release(job);
      throw e;
    }
  }

  /** So that nobody has to wait for it. */
  private static void release(Job job) throws InterruptedException {
    try {
      job.release();
    } catch (RuntimeException failure) {
      log.debug("the job is kept until its lease ends", failure);
    }
  }

  /** A job that goes on waits for servers, as they may be gone for the same reason. */
  private <T> T patiently(Waits.Step<T> step) throws InterruptedException {
    return settings.begin() == ClusterCopy.Begin.RESUME
        ? Waits.persistently("source and destination", step)
        : step.run();
  }

  /** Takes the job, new or as it is. */
  private void begin(ClusterEnd source, ClusterEnd destination, Job job)
      throws InterruptedException {
    BsonDocument known = job.read();
    if (known != null && settings.begin() != ClusterCopy.Begin.NEW) {
      patiently(
          () -> {
            requireUser(destination, known);
            return true;
          });
    }
    if (settings.begin() == ClusterCopy.Begin.RESUME) {
      if (known == null) {
        throw new CopyException("the destination has no job " + settings.job(), null);
      }
      patiently(
          () -> {
            requireSame(source, known);
            return true;
          });
      // Its process may have ended without a word.
      long until = System.nanoTime() + settings.lease().multipliedBy(3).toNanos();
      while (!job.take()) {
        if (System.nanoTime() - until > 0) {
          throw new CopyException("another process works on the job " + settings.job(), null);
        }
        Thread.sleep(settings.lease().toMillis() / 10);
      }
      return;
    }
    if (settings.reverse()) {
      beginReversal(source, destination, job, known);
      return;
    }
    if (known != null && settings.begin() == ClusterCopy.Begin.NEW) {
      throw new CopyException(
          "the destination has the job %s already, in phase %s: resume it, or overwrite it"
              .formatted(settings.job(), known.getString("phase").getValue()),
          null);
    }
    Checkpoint place =
        Waits.one(ShardedChangeStream.builder(source.settings()).cluster().build().start());
    List<CollectionSpec> specs = new SourceStructure(source, settings.mapping(), this::note).read();
    checkIncluded(specs);
    Set<String> occupied = occupied(destination, specs).keySet();
    if (!occupied.isEmpty() && settings.begin() == ClusterCopy.Begin.NEW) {
      throw new CopyException(
          "the destination is not empty: it has %s%s; overwrite drops what is to be copied"
              .formatted(
                  String.join(", ", occupied.stream().limit(3).toList()),
                  occupied.size() > 3 ? " and " + (occupied.size() - 3) + " more" : ""),
          null);
    }
    checkFilters(source);
    ReadOrder order = settings.order();
    if (order != null) {
      order.check(source, specs, this::note);
    }
    if (isFollowing()) {
      new Forecast(source).check(specs, settings.documentsPerSecond(), settings.bytesPerSecond());
    }
    create(
        job,
        fields(source, destination, known)
            .append("orderBy", orderBy())
            .append("place", place.toDocument())
            .append("start", place.clusterTime()));
  }

  private void checkIncluded(List<CollectionSpec> specs) {
    if (specs.isEmpty() && !settings.mapping().included().isEmpty()) {
      throw new CopyException(
          "the source has no collection that is included and not excluded", null);
    }
    List<String> namespaces = specs.stream().map(CollectionSpec::namespace).toList();
    settings
        .mapping()
        .unused(namespaces)
        .forEach(pattern -> note("the source has nothing yet to copy of '%s'".formatted(pattern)));
  }

  private BsonValue orderBy() {
    ReadOrder order = settings.order();
    return order == null ? BsonNull.VALUE : new BsonString(order.toString());
  }

  /** Has the source read them, as they are sent with others later. */
  private void checkFilters(ClusterEnd source) throws InterruptedException {
    for (Map.Entry<String, BsonDocument> each : settings.mapping().filters().entrySet()) {
      MongoNamespace namespace = new MongoNamespace(each.getKey());
      try {
        source.all(
            source
                .database(namespace.getDatabaseName())
                .getCollection(namespace.getCollectionName(), BsonDocument.class)
                .find(Filters.and(Filters.in("_id"), each.getValue())));
      } catch (MongoException refused) {
        throw new CopyException(
            "the filter of %s: %s".formatted(namespace, Waits.reason(refused)), refused);
      }
    }
  }

  /** Begins where the job that was finished has ended. */
  private void beginReversal(
      ClusterEnd source, ClusterEnd destination, Job job, @Nullable BsonDocument known)
      throws InterruptedException {
    Reversal reversal = Reversal.of(source, destination, settings);
    reversal.check(known);
    long written = reversal.written(destination);
    if (written > 0) {
      note(
          ("the destination has had %d inserts, updates and deletes since the job was finished;"
                  + " what they have changed may differ")
              .formatted(written));
    }
    for (CollectionSpec spec : new SourceStructure(source, settings.mapping(), this::note).read()) {
      if (spec.kind() == CollectionSpec.Kind.TIME_SERIES) {
        note("changes of " + spec.namespace() + ", a time series, are in no change stream");
      }
    }
    create(
        job,
        fields(source, destination, known)
            .append("reverses", reversal.job())
            .append("start", reversal.start())
            .append("readUntil", reversal.start()));
  }

  /** What every new job has. */
  private BsonDocument fields(
      ClusterEnd source, ClusterEnd destination, @Nullable BsonDocument known)
      throws InterruptedException {
    BsonDocument fields =
        new BsonDocument("format", new BsonInt32(FORMAT))
            .append("incarnation", new BsonObjectId(new ObjectId()))
            .append("phase", new BsonString(CopyPhase.START.name()))
            .append("source", identity(source))
            .append("user", user(destination))
            .append("mapping", mapping(settings))
            .append("transformed", BsonBoolean.valueOf(settings.mapping().transformation() != null))
            // What its processes may still write, and what is stored of it.
            .append(
                "replaces",
                known == null ? BsonNull.VALUE : known.get("incarnation", BsonNull.VALUE))
            .append("oldPlan", known == null ? BsonNull.VALUE : known.get("plan", BsonNull.VALUE));
    for (String ofRun :
        List.of(
            "orderBy",
            "reverses",
            "paused",
            "finish",
            "progress",
            "finishedAt",
            "finishedThere",
            LateSeries.PLAN)) {
      fields.append(ofRun, BsonNull.VALUE);
    }
    return fields;
  }

  private void create(Job job, BsonDocument fields) throws InterruptedException {
    if (!job.create(fields)) {
      throw new CopyException("another process works on the job " + settings.job(), null);
    }
  }

  private void checkRights(ClusterEnd source, ClusterEnd destination) throws InterruptedException {
    Set<String> databases = new SourceStructure(source, settings.mapping(), this::note).databases();
    Set<String> there = new TreeSet<>();
    for (String database : databases) {
      there.addAll(settings.mapping().databases(database));
    }
    Rights rights = new Rights();
    rights.ofSource(source, databases);
    rights.ofDestination(destination, there, ClusterCopy.STATE_DATABASE);
    rights.check();
  }

  /** Removes what is in the way, takes note of what there is to copy, and gives the next phase. */
  private CopyPhase prepare(ClusterEnd source, ClusterEnd destination, Job job)
      throws InterruptedException {
    if (job.get("replaces") instanceof BsonObjectId old) {
      for (String kind : List.of("", LateSeries.LANES)) {
        Waits.first(fence(destination, old, kind, Mono.empty()).close(lanes(job)));
      }
      Waits.first(
          Applier.shutOut(
              destination.client(),
              destination.database(ClusterCopy.STATE_DATABASE),
              Following.name(settings.job(), old)));
    }
    if (job.get("oldPlan") instanceof BsonObjectId old) {
      new Plan(destination, ClusterCopy.STATE_DATABASE, old).remove();
    }
    boolean reverse = job.get("reverses") instanceof BsonObjectId;
    List<CollectionSpec> specs =
        reverse ? List.of() : new SourceStructure(source, settings.mapping(), this::note).read();
    DestinationStructure there =
        new DestinationStructure(destination, settings.mapping(), this::note);
    if (!reverse) {
      for (Map.Entry<String, BsonDocument> each : occupied(destination, specs).entrySet()) {
        // Whoever stood still here drops nothing that was made since.
        job.renew();
        there.drop(each.getKey(), each.getValue());
      }
    }
    BsonObjectId plan = new BsonObjectId();
    new Plan(destination, ClusterCopy.STATE_DATABASE, plan).store(specs);
    CopyPhase next = reverse ? CopyPhase.INCREMENTAL : CopyPhase.STRUCTURE;
    job.set(new BsonDocument("plan", plan).append("phase", new BsonString(next.name())));
    return next;
  }

  static BsonArray identity(ClusterEnd source) throws InterruptedException {
    return new BsonArray(new TreeSet<>(source.identity()).stream().map(BsonString::new).toList());
  }

  private static BsonDocument mapping(CopySettings settings) {
    Mapping mapping = settings.mapping();
    BsonArray renamed = new BsonArray();
    mapping
        .renamed()
        .forEach(
            (from, to) ->
                renamed.add(new BsonArray(List.of(new BsonString(from), new BsonString(to)))));
    BsonArray filters = new BsonArray();
    mapping
        .filters()
        .forEach(
            (namespace, filter) ->
                filters.add(
                    new BsonArray(
                        List.of(new BsonString(namespace), new BsonString(filter.toJson())))));
    BsonDocument document =
        new BsonDocument("included", strings(mapping.included()))
            .append("excluded", strings(mapping.excluded()))
            .append("renamed", renamed)
            .append("filters", filters)
            .append("operations", strings(settings.operations().stream().map(Enum::name).toList()));
    return mapping.inverse() ? document.append("inverse", strings(List.of("inverse"))) : document;
  }

  private static BsonArray strings(List<String> values) {
    return new BsonArray(values.stream().sorted().map(BsonString::new).toList());
  }

  private void requireSame(ClusterEnd source, BsonDocument known) throws InterruptedException {
    if (!(known.get("format") instanceof BsonInt32 format) || format.getValue() != FORMAT) {
      throw new CopyException(
          "the job " + settings.job() + " was begun by another version of this program", null);
    }
    boolean reverse = known.get("reverses") instanceof BsonObjectId;
    if (reverse != settings.reverse()) {
      throw new CopyException(
          "the job %s is %s: resume it as such"
              .formatted(settings.job(), reverse ? "a copy back" : "no copy back"),
          null);
    }
    if (settings.order() != null && !orderBy().equals(known.get("orderBy"))) {
      throw new CopyException("the job " + settings.job() + " was begun in another order", null);
    }
    if (!isCopyOf(source, known)) {
      throw new CopyException("the job " + settings.job() + " is a copy of another source", null);
    }
    if (!sorted(known.getDocument("mapping")).equals(sorted(mapping(settings)))) {
      throw new CopyException(
          "the job "
              + settings.job()
              + " was begun with other collections, names, filters or operations: give the same",
          null);
    }
  }

  /** Another user's sessions would not shut out those of this one. */
  private void requireUser(ClusterEnd destination, BsonDocument known) {
    BsonString begun = known.getString("user", new BsonString(""));
    if (!begun.equals(user(destination))) {
      throw new CopyException(
          "the job %s was begun by the user %s of the destination: use the same"
              .formatted(settings.job(), begun.getValue().isEmpty() ? "(none)" : begun.getValue()),
          null);
    }
  }

  private static BsonString user(ClusterEnd destination) {
    MongoCredential credential = destination.settings().getCredential();
    String name = credential == null ? null : credential.getUserName();
    return new BsonString(
        credential == null || name == null ? "" : name + "@" + credential.getSource());
  }

  /** Whether a job copies from a cluster. */
  static boolean isCopyOf(ClusterEnd cluster, BsonDocument job) throws InterruptedException {
    BsonArray now = identity(cluster);
    BsonArray then = job.getArray("source");
    return cluster.isSharded() ? then.equals(now) : then.stream().anyMatch(now::contains);
  }

  private static Set<String> sorted(BsonDocument mapping) {
    Set<String> all = new TreeSet<>();
    mapping.forEach(
        (name, values) -> {
          for (BsonValue value : values.asArray()) {
            all.add(name + " " + new BsonDocument("", value).toJson());
          }
        });
    return all;
  }

  /** The collections of the destination that the copy has or may get, with what they are. */
  private Map<String, BsonDocument> occupied(ClusterEnd destination, List<CollectionSpec> specs)
      throws InterruptedException {
    Set<String> wanted = new HashSet<>();
    specs.forEach(spec -> wanted.add(spec.destination()));
    Map<String, BsonDocument> occupied = new TreeMap<>();
    for (BsonDocument database :
        destination.all(destination.client().listDatabases(BsonDocument.class).nameOnly(true))) {
      String name = database.getString("name").getValue();
      if (OF_SERVERS.contains(name) || name.equals(ClusterCopy.STATE_DATABASE)) {
        continue;
      }
      for (BsonDocument collection :
          destination.all(destination.database(name).listCollections(BsonDocument.class))) {
        String namespace = name + "." + collection.getString("name").getValue();
        if (!collection.getString("name").getValue().startsWith("system.")
            && (wanted.contains(namespace)
                || namespace.equals(settings.mapping().destination(namespace)))) {
          occupied.put(namespace, collection.getDocument("info", new BsonDocument()));
        }
      }
    }
    return occupied;
  }

  private void counted(ClusterEnd source, ClusterEnd destination, Job job)
      throws InterruptedException {
    if (!isFollowing()) {
      phases(source, destination, job);
      return;
    }
    BsonTimestamp applied =
        job.get("progress") instanceof BsonDocument progress
                && progress.get("applied") instanceof BsonTimestamp known
            ? known
            : (BsonTimestamp) job.required("start");
    try (OperationsBehind operations = new OperationsBehind(source, applied, this::note)) {
      meter.counting(operations, applied);
      phases(source, destination, job);
    }
  }

  private void phases(ClusterEnd source, ClusterEnd destination, Job job)
      throws InterruptedException {
    CopyPhase phase = CopyPhase.valueOf(((BsonString) job.required("phase")).getValue());
    if (phase == CopyPhase.START) {
      phase = prepare(source, destination, job);
    }
    Plan plan =
        new Plan(destination, ClusterCopy.STATE_DATABASE, (BsonObjectId) job.required("plan"));
    BsonTimestamp start = (BsonTimestamp) job.required("start");
    DestinationStructure structure =
        new DestinationStructure(destination, settings.mapping(), this::note);
    RangePlanner planner =
        new RangePlanner(
            source,
            settings.rangeBytes(),
            job.get("orderBy") instanceof BsonString index
                ? new ReadOrder(index.getValue())
                : null);
    List<CopiedCollection> collections = plan.collections();
    meter.began(collections.size(), start);
    if (phase == CopyPhase.STRUCTURE) {
      meter.phase(CopyPhase.STRUCTURE);
      for (CopiedCollection collection : collections) {
        CollectionSpec spec = collection.spec();
        CollectionSpec.Sharding sharding = spec.sharding();
        job.renew();
        structure.create(
            spec,
            sharding != null && destination.isSharded() && !sharding.isSplitByServers()
                ? planner.points(spec, sharding.key(), destination.shards().size())
                : List.of());
      }
      phase = next(job, CopyPhase.FULL);
    }
    if (phase == CopyPhase.FULL && settings.phases().contains(CopyPhase.FULL)) {
      meter.phase(CopyPhase.FULL);
      new FullCopy(
              source,
              destination,
              settings.mapping(),
              plan,
              // Of the start itself there is nothing: the first event is at it or later.
              new FullCopy.Settings(
                  new BsonTimestamp(start.getValue() - 1),
                  settings.readersPerShard(),
                  settings.batchSize()),
              limits,
              counts)
          .run(count -> lanes(destination, job, count, ""), planner);
      BsonTimestamp read = source.clusterTime();
      job.set(new BsonDocument("readUntil", read == null ? start : read));
      phase = next(job, CopyPhase.INDEXES);
    } else if (phase != CopyPhase.FULL) {
      plan.count(counts);
    }
    if (phase == CopyPhase.INDEXES && settings.phases().contains(CopyPhase.INDEXES)) {
      meter.phase(CopyPhase.INDEXES);
      for (CopiedCollection collection : collections) {
        structure.buildIndexes(collection.spec());
      }
      if (!isFollowing()) {
        finish(collections.stream().map(CopiedCollection::spec).toList(), structure);
      }
      phase = next(job, isFollowing() ? CopyPhase.INCREMENTAL : CopyPhase.DONE);
    }
    if (phase == CopyPhase.INCREMENTAL && isFollowing()) {
      meter.phase(CopyPhase.INCREMENTAL);
      BsonTimestamp until = new Following(source, destination, settings, job, meter).untilFinish();
      List<CollectionSpec> specs = collections.stream().map(CopiedCollection::spec).toList();
      LateSeries series = new LateSeries(source, destination, settings, job, this::note);
      if (settings.operations().contains(CopyOperation.DDL)) {
        specs = new SourceStructure(source, settings.mapping(), this::note).read();
        series.copy(
            collections,
            specs,
            occupied(destination, specs).keySet(),
            until,
            structure,
            planner,
            count -> lanes(destination, job, count, LateSeries.LANES),
            limits);
      }
      finish(specs, structure);
      note(
          "the destination has all that happened at the source before the cluster time "
              + text(until));
      phase = CopyPhase.DONE;
      job.set(
          new BsonDocument("finishedAt", until)
              .append("finishedThere", Reversal.startNow(destination))
              .append("phase", new BsonString(phase.name())));
      series.remove();
    }
    meter.ended(phase);
  }

  /**
   * All lanes that the job has ever had are taken over, and as many given as asked for.
   *
   * @param kind of the lanes, each of which is raised once in a process
   */
  private static List<Fence.Lane> lanes(ClusterEnd destination, Job job, int count, String kind)
      throws InterruptedException {
    int all = Math.max(count, lanes(job));
    job.set(new BsonDocument("lanes", new BsonInt32(all)));
    Fence fence = fence(destination, job.incarnation(), kind, renewal(job));
    List<Fence.Lane> raised =
        Waits.one(
            Flux.range(0, all)
                .flatMapSequential(number -> fence.raise(number, job.term().getValue()))
                .collectList());
    raised.stream().skip(count).forEach(Fence.Lane::close);
    return raised.subList(0, count);
  }

  private static int lanes(Job job) {
    return job.get("lanes") instanceof BsonInt32 number ? number.getValue() : 0;
  }

  private static Mono<Void> renewal(Job job) {
    return Mono.<Void>fromCallable(
            () -> {
              job.renew();
              return null;
            })
        .subscribeOn(Schedulers.boundedElastic());
  }

  private static Fence fence(
      ClusterEnd destination, BsonObjectId incarnation, String kind, Mono<Void> stillOwner) {
    return new Fence(
        destination.client(),
        destination.database(ClusterCopy.STATE_DATABASE),
        incarnation.getValue().toHexString() + kind,
        stillOwner);
  }

  private boolean isFollowing() {
    return settings.phases().contains(CopyPhase.INCREMENTAL);
  }

  private void finish(List<CollectionSpec> specs, DestinationStructure structure)
      throws InterruptedException {
    for (CollectionSpec spec : specs) {
      if (spec.kind() != CollectionSpec.Kind.VIEW) {
        structure.finish(spec);
      }
    }
  }

  private static String text(BsonTimestamp time) {
    return Integer.toUnsignedString(time.getTime()) + "." + time.getInc();
  }

  private static CopyPhase next(Job job, CopyPhase phase) throws InterruptedException {
    job.set(new BsonDocument("phase", new BsonString(phase.name())));
    return phase;
  }
}
