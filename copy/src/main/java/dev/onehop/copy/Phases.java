package dev.onehop.copy;

import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.OperationsBehind;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.CopiedCollection;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.internal.full.FullCopy;
import dev.onehop.copy.internal.full.Limits;
import dev.onehop.copy.internal.full.Plan;
import dev.onehop.copy.internal.full.RangePlanner;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.DestinationStructure;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.copy.internal.structure.StructureReader;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;

/** Runs the phases of a copy, beginning with the current phase of its job. */
record Phases(
    ClusterEnd source,
    ClusterEnd destination,
    CopySettings settings,
    Job job,
    Limits limits,
    Counts counts,
    ProgressMeter meter,
    Consumer<String> notes) {
  /** Runs those phases of the settings that are not done yet. */
  void run() throws InterruptedException {
    if (job.get("progress") instanceof BsonDocument earlier) {
      meter.resumed(earlier);
    }
    try (RunWatch watch = new RunWatch(source, destination, settings.isFollowing(), meter)) {
      watch.start();
      if (settings.isFollowing()) {
        counted();
      } else {
        phases();
      }
    }
  }

  /** Runs the phases, and counts the source's operations that are not applied yet. */
  private void counted() throws InterruptedException {
    BsonTimestamp applied =
        job.get("progress") instanceof BsonDocument progress
                && progress.get("applied") instanceof BsonTimestamp known
            ? known
            : (BsonTimestamp) job.required("start");
    try (OperationsBehind operations = new OperationsBehind(source, applied, notes)) {
      meter.counting(operations, applied);
      phases();
    }
  }

  private void phases() throws InterruptedException {
    CopyPhase phase = CopyPhase.valueOf(((BsonString) job.required("phase")).getValue());
    if (phase == CopyPhase.START) {
      phase = prepare();
    }
    Plan plan =
        new Plan(destination, ClusterCopy.STATE_DATABASE, (BsonObjectId) job.required("plan"));
    BsonTimestamp start = (BsonTimestamp) job.required("start");
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
      create(collections, planner);
      phase = next(CopyPhase.FULL);
    }
    if (phase == CopyPhase.FULL && settings.phases().contains(CopyPhase.FULL)) {
      meter.phase(CopyPhase.FULL);
      copy(plan, planner, start);
      phase = next(CopyPhase.INDEXES);
    } else if (phase != CopyPhase.FULL) {
      plan.count(counts);
    }
    if (phase == CopyPhase.INDEXES && settings.phases().contains(CopyPhase.INDEXES)) {
      meter.phase(CopyPhase.INDEXES);
      index(plan.collections());
      phase = next(settings.isFollowing() ? CopyPhase.INCREMENTAL : CopyPhase.DONE);
    }
    if (phase == CopyPhase.INCREMENTAL && settings.isFollowing()) {
      meter.phase(CopyPhase.INCREMENTAL);
      follow(collections, planner);
      phase = CopyPhase.DONE;
    }
    meter.ended(phase);
    job.set(new BsonDocument("progress", meter.document()));
  }

  private JobLanes lanes() {
    return new JobLanes(destination, job);
  }

  private LateSeries series() {
    return new LateSeries(source, destination, settings, job, notes);
  }

  private DestinationStructure structure() {
    return new DestinationStructure(destination, settings.mapping(), notes);
  }

  private void create(List<CopiedCollection> collections, RangePlanner planner)
      throws InterruptedException {
    meter.steps(collections.size());
    for (CopiedCollection collection : collections) {
      CollectionSpec spec = collection.spec();
      meter.step("creating " + spec.destination(), 1);
      job.renew();
      structure().create(spec, planner.points(spec, destination));
    }
  }

  private void copy(Plan plan, RangePlanner planner, BsonTimestamp start)
      throws InterruptedException {
    new FullCopy(
            source,
            destination,
            settings.mapping(),
            plan,
            // The source may not have reached the start yet, and a read at the start would wait for
            // it. So the reads wait only for the time just before the start. The first event to
            // apply is at the start or later.
            new FullCopy.Settings(
                new BsonTimestamp(start.getValue() - 1),
                settings.readersPerShard(),
                settings.batchSize()),
            limits,
            counts)
        .run(count -> lanes().raise(count, ""), planner);
    BsonTimestamp read = source.clusterTime();
    job.set(new BsonDocument("readUntil", read == null ? start : read));
  }

  private void index(List<CopiedCollection> collections) throws InterruptedException {
    meter.steps(collections.stream().mapToDouble(Phases::work).sum());
    for (CopiedCollection collection : collections) {
      meter.step("building indexes of " + collection.spec().destination(), work(collection));
      structure().buildIndexes(collection.spec());
    }
    if (!settings.isFollowing()) {
      finish(collections.stream().map(CopiedCollection::spec).toList());
    }
  }

  /**
   * The weight of a collection's index builds in the progress. It is proportional to their expected
   * time.
   */
  private static double work(CopiedCollection collection) {
    return 1 + (double) collection.documents() * collection.spec().indexes().size();
  }

  /** Applies changes until the job is requested to finish, and then finishes the copy. */
  private void follow(List<CopiedCollection> collections, RangePlanner planner)
      throws InterruptedException {
    BsonTimestamp until = new Following(source, destination, settings, job, meter).untilFinish();
    List<CollectionSpec> specs = collections.stream().map(CopiedCollection::spec).toList();
    LateSeries series = series();
    if (settings.operations().contains(CopyOperation.DDL)) {
      specs = new StructureReader(source, settings.mapping(), notes).toCopy();
      series.copy(collections, specs, until, planner, limits);
    }
    finish(specs);
    notes.accept(
        "the destination has all changes of the source before the cluster time " + text(until));
    job.set(
        new BsonDocument("finishedAt", until)
            .append("finishedThere", Reversal.startNow(destination))
            .append("phase", new BsonString(CopyPhase.DONE.name())));
    series.remove();
  }

  /**
   * Prepares a new job: removes the state of the jobs that it replaces, drops the collections to
   * overwrite, and stores the plan. Returns the next phase.
   */
  private CopyPhase prepare() throws InterruptedException {
    for (BsonValue old : JobFields.replaced(job.get("replaces"))) {
      lanes().shutOut(old.asObjectId());
      Waits.first(
          Applier.shutOut(
              destination.client(),
              destination.database(ClusterCopy.STATE_DATABASE),
              Following.name(settings.job(), old.asObjectId())));
    }
    if (job.get("oldPlan") instanceof BsonObjectId old) {
      new Plan(destination, ClusterCopy.STATE_DATABASE, old).remove();
    }
    series().remove();
    boolean reverse = job.get("reverses") instanceof BsonObjectId;
    List<CollectionSpec> specs =
        reverse ? List.of() : new StructureReader(source, settings.mapping(), notes).toCopy();
    if (!reverse) {
      for (Map.Entry<String, BsonDocument> each :
          JobStart.occupied(destination, settings.mapping(), specs).entrySet()) {
        // The renewal fails if another process owns the job by now. So this process never drops a
        // collection of that process.
        job.renew();
        structure().drop(each.getKey(), each.getValue());
      }
    }
    BsonObjectId plan = new BsonObjectId();
    new Plan(destination, ClusterCopy.STATE_DATABASE, plan).store(specs);
    CopyPhase next = reverse ? CopyPhase.INCREMENTAL : CopyPhase.STRUCTURE;
    job.set(new BsonDocument("plan", plan).append("phase", new BsonString(next.name())));
    return next;
  }

  private void finish(List<CollectionSpec> specs) throws InterruptedException {
    meter.phase(CopyPhase.FINISH);
    meter.steps(specs.size());
    for (CollectionSpec spec : specs) {
      meter.step("finishing " + spec.destination(), 1);
      if (spec.kind() != CollectionSpec.Kind.VIEW) {
        structure().finish(spec);
      }
    }
  }

  private static String text(BsonTimestamp time) {
    return Integer.toUnsignedString(time.getTime()) + "." + time.getInc();
  }

  private CopyPhase next(CopyPhase phase) throws InterruptedException {
    job.set(new BsonDocument("phase", new BsonString(phase.name())));
    return phase;
  }
}
