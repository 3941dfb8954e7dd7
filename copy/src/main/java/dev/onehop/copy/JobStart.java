package dev.onehop.copy;

import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ClusterIdentity;
import dev.onehop.copy.internal.cluster.EndCheck;
import dev.onehop.copy.internal.cluster.Rights;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.Forecast;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.copy.internal.structure.StructureReader;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a copy can begin or continue, and then creates or takes its job. The checks write
 * nothing.
 *
 * @param settings the settings. For a copy back, they have the inverted mapping of the finished job
 */
record JobStart(
    ClusterEnd source, ClusterEnd destination, CopySettings settings, Consumer<String> notes) {
  /**
   * Checks both clusters.
   *
   * @param wanted the settings of the copy
   * @param notes receives notes for the user
   * @throws CopyException if a copy from the source to the destination is impossible
   */
  static JobStart of(
      ClusterEnd source, ClusterEnd destination, CopySettings wanted, Consumer<String> notes)
      throws InterruptedException {
    JobStart start = new JobStart(source, destination, wanted, notes);
    start.checkEnds();
    if (wanted.reverse()) {
      Mapping back = start.patiently(() -> Reversal.mapping(source, destination, wanted));
      start = new JobStart(source, destination, wanted.with(back), notes);
    }
    start.patiently(start::checkRights);
    return start;
  }

  private void checkEnds() throws InterruptedException {
    if (!Collections.disjoint(
        patiently(() -> ClusterIdentity.ofJob(source)),
        patiently(() -> ClusterIdentity.ofJob(destination)))) {
      throw new CopyException("source and destination are the same cluster");
    }
    for (ClusterEnd end : List.of(source, destination)) {
      patiently(() -> EndCheck.forCopy(end));
    }
  }

  /**
   * Runs a step. If a job is resumed, the step is repeated while servers are unreachable, because
   * the same failure may have ended the job's earlier process.
   */
  private <T> T patiently(Waits.Step<T> step) throws InterruptedException {
    return settings.begin() == ClusterCopy.Begin.RESUME
        ? Waits.persistently("source and destination", step)
        : step.run();
  }

  private void patiently(LeaseKeeping.Work step) throws InterruptedException {
    patiently(
        () -> {
          step.run();
          return true;
        });
  }

  Job begin() throws InterruptedException {
    Job job = new Job(destination, ClusterCopy.STATE_DATABASE, settings.job(), settings.lease());
    BsonDocument known = job.read();
    if (known != null && settings.begin() != ClusterCopy.Begin.NEW) {
      patiently(() -> JobFields.requireUser(destination, settings, known));
    }
    if (settings.begin() == ClusterCopy.Begin.RESUME) {
      if (known == null) {
        throw new CopyException("the destination has no job " + settings.job());
      }
      resume(job, known);
      return job;
    }
    if (settings.reverse()) {
      beginReversal(job, known);
      return job;
    }
    if (known != null && settings.begin() == ClusterCopy.Begin.NEW) {
      throw new CopyException(
          ("the destination has the job %s already, in phase %s:"
                  + " --resume continues it, --overwrite drops it")
              .formatted(settings.job(), known.getString("phase").getValue()));
    }
    Checkpoint place =
        Waits.one(ShardedChangeStream.builder(source.settings()).cluster().build().start());
    List<CollectionSpec> specs = new StructureReader(source, settings.mapping(), notes).toCopy();
    checkIncluded(specs);
    Set<String> occupied = occupied(destination, settings.mapping(), specs).keySet();
    if (!occupied.isEmpty() && settings.begin() == ClusterCopy.Begin.NEW) {
      throw new CopyException(
          "the destination is not empty: it has %s%s, to which this copy would write; --overwrite drops them"
              .formatted(
                  String.join(", ", occupied.stream().limit(3).toList()),
                  occupied.size() > 3 ? " and " + (occupied.size() - 3) + " more" : ""));
    }
    checkFilters();
    ReadOrder order = settings.order();
    if (order != null) {
      order.check(source, specs, notes);
    }
    checkSpace(specs);
    noteUsers();
    if (settings.isFollowing()) {
      new Forecast(source).check(specs, settings.documentsPerSecond(), settings.bytesPerSecond());
    }
    create(
        job,
        JobFields.of(source, destination, settings, known)
            .append("orderBy", JobFields.orderBy(settings))
            .append("place", place.toDocument())
            .append("start", place.clusterTime()));
    return job;
  }

  /**
   * Takes an existing job. If the earlier process has ended without releasing the job, this method
   * waits until the lease has ended.
   */
  private void resume(Job job, BsonDocument known) throws InterruptedException {
    patiently(() -> JobFields.requireSame(source, settings, known));
    long until = System.nanoTime() + settings.lease().multipliedBy(3).toNanos();
    while (!job.take()) {
      if (System.nanoTime() - until > 0) {
        throw new CopyException("another process works on the job " + settings.job());
      }
      Thread.sleep(settings.lease().toMillis() / 10);
    }
  }

  private void checkIncluded(List<CollectionSpec> specs) {
    if (specs.isEmpty() && !settings.mapping().included().isEmpty()) {
      throw new CopyException("the selection includes no collection of the source");
    }
    List<String> namespaces = specs.stream().map(CollectionSpec::namespace).toList();
    for (String pattern : settings.mapping().unused(namespaces)) {
      notes.accept("the source has no collection yet that matches '%s'".formatted(pattern));
    }
  }

  /**
   * Checks the disk space. Collections with a filter do not count, because the size of the selected
   * documents is unknown. With {@link ClusterCopy.Begin#OVERWRITE} a lack of space is only noted,
   * because the drop of the collections frees an unknown amount of space.
   */
  private void checkSpace(List<CollectionSpec> specs) throws InterruptedException {
    DiskSpace.Shortage shortage =
        new DiskSpace(source, destination)
            .shortage(
                specs.stream()
                    .filter(spec -> !settings.mapping().filters().containsKey(spec.namespace()))
                    .toList());
    if (shortage == null) {
      return;
    }
    if (shortage.known()
        && !settings.ignoreSpace()
        && settings.begin() != ClusterCopy.Begin.OVERWRITE) {
      throw new CopyException(shortage.text() + "; --ignore-space copies anyway");
    }
    notes.accept(shortage.text());
  }

  /**
   * If the source has users, adds a note that users are not copied. If this program may not list
   * the users, it assumes that there are users if it has a credential.
   */
  private void noteUsers() throws InterruptedException {
    boolean some = source.settings().getCredential() != null;
    try {
      some |=
          !source
              .run("admin", BsonDocument.parse("{usersInfo: {forAllDBs: true}}"))
              .getArray("users", new BsonArray())
              .isEmpty();
    } catch (MongoException refused) {
      // This program may not list the users. If it has a credential, the source has at least the
      // user of this credential.
    }
    if (some) {
      notes.accept("users and roles are not copied: create them at the destination");
    }
  }

  /**
   * Makes the source parse each filter, so that an invalid filter is reported at the start of the
   * copy.
   */
  private void checkFilters() throws InterruptedException {
    for (Map.Entry<String, BsonDocument> each : settings.mapping().filters().entrySet()) {
      try {
        source.all(
            source.collection(each.getKey()).find(Filters.and(Filters.in("_id"), each.getValue())));
      } catch (MongoException refused) {
        throw new CopyException(
            "the source refuses the filter of %s: %s"
                .formatted(each.getKey(), Waits.reason(refused)),
            refused);
      }
    }
  }

  /** Begins a copy back, which starts at the time when the finished job ended. */
  private void beginReversal(Job job, @Nullable BsonDocument known) throws InterruptedException {
    Reversal reversal = Reversal.of(source, destination, settings);
    reversal.check(known);
    long written = reversal.written(destination);
    if (written > 0) {
      notes.accept(
          ("the destination has had %d inserts, updates and deletes since the job was finished;"
                  + " the changed documents may differ from the source's")
              .formatted(written));
    }
    for (CollectionSpec spec : new StructureReader(source, settings.mapping(), notes).toCopy()) {
      if (spec.kind() == CollectionSpec.Kind.TIME_SERIES) {
        notes.accept(
            "changes of the time series %s are not copied, because no change stream has them"
                .formatted(spec.namespace()));
      }
    }
    create(
        job,
        JobFields.of(source, destination, settings, known)
            .append("reverses", reversal.job())
            .append("start", reversal.start())
            .append("readUntil", reversal.start()));
  }

  private void create(Job job, BsonDocument fields) throws InterruptedException {
    if (!job.create(fields)) {
      throw new CopyException("another process works on the job " + settings.job());
    }
  }

  private void checkRights() throws InterruptedException {
    Set<String> databases = new StructureReader(source, settings.mapping(), notes).databases();
    Set<String> there = new TreeSet<>();
    for (String database : databases) {
      there.addAll(settings.mapping().databases(database));
    }
    Rights rights = new Rights();
    rights.ofSource(source, databases);
    rights.ofDestination(destination, there, ClusterCopy.STATE_DATABASE);
    rights.check();
  }

  /**
   * The existing collections of the destination whose names the copy needs. It needs the names of
   * the copied collections, and all names that a new collection of the source could get later. The
   * result maps each name to the {@code info} document of {@code listCollections}.
   */
  static Map<String, BsonDocument> occupied(
      ClusterEnd destination, Mapping mapping, List<CollectionSpec> specs)
      throws InterruptedException {
    Set<String> wanted = new HashSet<>();
    specs.forEach(spec -> wanted.add(spec.destination()));
    Map<String, BsonDocument> occupied = new TreeMap<>();
    StructureReader.list(destination, database -> !Mapping.neverCopies(database))
        .forEach(
            (namespace, collection) -> {
              if (!collection.getString("name").getValue().startsWith("system.")
                  && (wanted.contains(namespace)
                      || namespace.equals(mapping.destination(namespace)))) {
                occupied.put(namespace, collection.getDocument("info", new BsonDocument()));
              }
            });
    return occupied;
  }
}
