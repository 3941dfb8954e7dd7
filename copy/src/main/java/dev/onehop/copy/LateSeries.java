package dev.onehop.copy;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.full.CopiedCollection;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.internal.full.FullCopy;
import dev.onehop.copy.internal.full.Limits;
import dev.onehop.copy.internal.full.Plan;
import dev.onehop.copy.internal.full.RangePlanner;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.DestinationStructure;
import dev.onehop.copy.progress.CopyException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Copies the time series that were created while changes were applied. It runs when the copy
 * finishes, because no change stream contains time series. If the process ends before the job is
 * done, the next process copies these time series again.
 */
record LateSeries(
    ClusterEnd source,
    ClusterEnd destination,
    CopySettings settings,
    Job job,
    Consumer<String> notes) {
  /** The field of the job with the id of the plan of these time series. */
  static final String PLAN = "series";

  /** The kind of the lanes of these time series. */
  static final String LANES = ".series";

  /**
   * Copies the time series.
   *
   * @param planned the collections that the full phase has copied; empty for a copy back
   * @param now the current collections of the source
   * @param until a cluster time of the source that is after all writes to the source
   * @throws CopyException if the destination has another collection with the name of such a time
   *     series
   */
  void copy(
      List<CopiedCollection> planned,
      List<CollectionSpec> now,
      BsonTimestamp until,
      RangePlanner planner,
      Limits limits)
      throws InterruptedException {
    @Nullable BsonObjectId old = job.get(PLAN) instanceof BsonObjectId known ? known : null;
    Set<String> begun = old == null ? Set.of() : byName(plan(old).collections()).keySet();
    Map<String, CollectionSpec> before = byName(planned);
    Set<String> occupied = JobStart.occupied(destination, settings.mapping(), now).keySet();
    List<CollectionSpec> created = new ArrayList<>();
    for (CollectionSpec spec : now) {
      CollectionSpec known = before.get(spec.namespace());
      boolean same =
          settings.reverse()
              ? occupied.contains(spec.destination())
              : known != null && Objects.equals(known.uuid(), spec.uuid());
      if (spec.kind() == CollectionSpec.Kind.TIME_SERIES
          && (!same || begun.contains(spec.namespace()))) {
        created.add(spec);
      }
    }
    if (created.isEmpty()) {
      return;
    }
    DestinationStructure structure =
        new DestinationStructure(destination, settings.mapping(), notes);
    for (CollectionSpec spec : created) {
      if (begun.contains(spec.namespace())) {
        continue;
      }
      if (before.containsKey(spec.namespace())) {
        job.renew();
        structure.drop(spec.destination(), new BsonDocument());
      } else if (occupied.contains(spec.destination())) {
        throw new CopyException(
            ("the time series %s was created during the copy, and the destination already has a"
                    + " collection %s: drop it at the destination")
                .formatted(spec.namespace(), spec.destination()));
      }
    }
    BsonObjectId id = new BsonObjectId();
    Plan plan = plan(id);
    plan.store(created);
    job.set(new BsonDocument(PLAN, id));
    if (old != null) {
      plan(old).remove();
    }
    for (CollectionSpec spec : created) {
      job.renew();
      structure.create(spec, planner.points(spec, destination));
      notes.accept(
          "the time series %s was created during the copy, and is copied in its current state"
              .formatted(spec.namespace()));
    }
    new FullCopy(
            source,
            destination,
            settings.mapping(),
            plan,
            new FullCopy.Settings(until, settings.readersPerShard(), settings.batchSize()),
            limits,
            new Counts())
        .run(count -> new JobLanes(destination, job).raise(count, LANES), planner);
  }

  private static Map<String, CollectionSpec> byName(List<CopiedCollection> collections) {
    return collections.stream()
        .map(CopiedCollection::spec)
        .collect(Collectors.toMap(CollectionSpec::namespace, spec -> spec));
  }

  /** Removes the plan of a job that is done. */
  void remove() throws InterruptedException {
    if (job.get(PLAN) instanceof BsonObjectId known) {
      plan(known).remove();
      job.set(new BsonDocument(PLAN, BsonNull.VALUE));
    }
  }

  private Plan plan(BsonObjectId id) {
    return new Plan(destination, ClusterCopy.STATE_DATABASE, id);
  }
}
