package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.mirror.FieldChanges;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Plans the writes for a batch of events of documents. Thread-safe. */
record Planner(
    Mapping mapping, Set<CopyOperation> operations, SourceReads source, Targets targets) {
  /** A collection of the source, with the name and the UUID that events have. */
  private record Origin(MongoNamespace namespace, @Nullable BsonBinary uuid) {}

  /**
   * The events of a document.
   *
   * @param run the number that {@link Run} returns for the events
   */
  private record Task(Origin origin, int run, Lane.Document document, DocumentEvents events) {}

  /** A document and the number of a run of its collection. */
  private record TaskKey(int run, Lane.Document document) {}

  /**
   * Divides the events of a capped collection into runs. The events of a run may be applied as in
   * other collections: deletes first, then inserts, then updates. The runs are applied one after
   * another. The destination's collection therefore never has more documents than the source's
   * collection had, and it removes by itself only documents that the source has also removed.
   */
  private static final class Run {
    private final Set<Lane.Document> deleted = new HashSet<>();
    private int number;
    private boolean changed;

    /**
     * The number of the run in which an event is applied.
     *
     * @param inserts whether the event is applied as an insert; false if it updates, replaces or
     *     deletes a document
     */
    int next(DocumentEvent event, boolean inserts) {
      boolean deletes = event.type().equals("delete");
      if ((changed && (inserts || deletes)) || (!deletes && deleted.contains(event.document()))) {
        deleted.clear();
        changed = false;
        number++;
      }
      if (deletes) {
        deleted.add(event.document());
      }
      changed |= !inserts && !deletes;
      return number;
    }
  }

  /**
   * Plans a batch. Nothing is written.
   *
   * @param lane the lane of the channel
   * @param readAgain the documents that are read from the source, because their events are not
   *     enough
   */
  Mono<BatchPlan> plan(List<StreamEvent.Change> changes, Lane lane, Set<Lane.Document> readAgain) {
    List<DocumentEvent> events = new ArrayList<>(changes.size());
    Map<MongoNamespace, String> names = new LinkedHashMap<>();
    DocumentEvent.Reader reader = new DocumentEvent.Reader();
    MongoNamespace last = null;
    for (StreamEvent.Change change : changes) {
      DocumentEvent event = reader.read(change.document());
      if (event != null && event.operation() != null && operations.contains(event.operation())) {
        // Consecutive events of a collection use the same object for its name. So the name is
        // looked up only for the first one.
        String destination =
            event.namespace().equals(last)
                ? ""
                : names.computeIfAbsent(
                    event.namespace(), name -> mapping.destination(name.getFullName()));
        if (destination != null) {
          events.add(event);
          last = event.namespace();
        }
      }
    }
    return Flux.fromIterable(names.entrySet())
        .concatMap(
            name -> targets.of(name.getValue()).map(target -> Map.entry(name.getKey(), target)))
        .collectMap(Map.Entry::getKey, Map.Entry::getValue)
        .flatMap(known -> plan(tasks(events, known, lane, readAgain)));
  }

  private List<Task> tasks(
      List<DocumentEvent> events,
      Map<MongoNamespace, Target> known,
      Lane lane,
      Set<Lane.Document> readAgain) {
    Map<TaskKey, Task> tasks = new LinkedHashMap<>();
    Map<Target, Run> runs = new HashMap<>();
    Set<Lane.Document> again = new HashSet<>(readAgain);
    MongoNamespace last = null;
    Target its = null;
    for (DocumentEvent event : events) {
      Lane.Document document = event.document();
      if (its == null || !event.namespace().equals(last)) {
        last = event.namespace();
        its = Objects.requireNonNull(known.get(last));
      }
      Target target = its;
      boolean ordered = target.capped() && removes();
      boolean deleted = event.type().equals("delete");
      boolean inserted = event.type().equals("insert");
      boolean met = lane.has(document, event.time());
      // If the document was read after the event, the event is left out. In a capped collection,
      // inserts and deletes are applied nevertheless, because they decide the document's position.
      if (!met || (ordered && (inserted || deleted))) {
        if (met && inserted) {
          again.add(document);
        }
        boolean read = !again.isEmpty() && again.contains(document) && !(ordered && deleted);
        int run =
            target.capped()
                ? runs.computeIfAbsent(target, capped -> new Run())
                    .next(event, !read && inserts(event))
                : 0;
        DocumentEvents all =
            tasks
                .computeIfAbsent(
                    new TaskKey(run, document),
                    key ->
                        new Task(
                            new Origin(event.namespace(), event.uuid()),
                            run,
                            document,
                            new DocumentEvents(target, event.id())))
                .events();
        Lane.Document named = new Lane.Document(event.namespace(), document.id());
        // The first plan of the batch may already have written this event and later ones. In a
        // capped collection, each event of the second plan therefore counts as uncertain.
        boolean uncertain =
            lane.isUncertain(document, named, event.time()) || (ordered && !readAgain.isEmpty());
        if (ordered && inserted && (read || uncertain)) {
          all.insertAgain();
        }
        if (read) {
          all.readAgain();
        } else {
          add(event, all, uncertain);
        }
        if (all.isReadAgain()) {
          again.add(document);
        }
      }
    }
    return List.copyOf(tasks.values());
  }

  private boolean inserts(DocumentEvent event) {
    return event.type().equals("insert")
        && mapping.filter(event.namespace().getFullName()) == null
        && !Target.hasOperatorName(event.fullDocument());
  }

  private void add(DocumentEvent event, DocumentEvents to, boolean uncertain) {
    String namespace = event.namespace().getFullName();
    BsonDocument filter = mapping.filter(namespace);
    switch (event.type()) {
      case "insert", "replace" -> {
        RawBsonDocument changed = mapping.transformed(namespace, event.fullDocument());
        if (filter != null || (!removes() && !to.target().isPlacedById())) {
          // With a filter, the document is read again, because only the server can evaluate the
          // filter. It is also read again if deletes are not applied: no event would remove an
          // older version of it with another shard key.
          to.readAgain();
        } else if (changed == null) {
          if (removes()) {
            to.delete(event.key());
          }
        } else {
          boolean inserted = event.type().equals("insert");
          to.put(event.key(), changed, inserted, uncertain || !inserted);
        }
      }
      case "delete" -> to.delete(event.key());
      default -> {
        BsonDocument description = event.updateDescription();
        if (mapping.needsWholeDocuments(namespace)
            || (uncertain && !FieldChanges.canBeRepeated(description))) {
          to.readAgain();
        } else {
          to.update(event.key(), description);
        }
      }
    }
  }

  private boolean removes() {
    return operations.contains(CopyOperation.DELETE);
  }

  private Mono<BatchPlan> plan(List<Task> tasks) {
    Map<Origin, List<BsonValue>> toRead = new LinkedHashMap<>();
    for (Task task : tasks) {
      if (task.events().isReadAgain() || task.events().isInsertedAgain()) {
        toRead.computeIfAbsent(task.origin(), origin -> new ArrayList<>()).add(task.events().id());
      }
    }
    return Flux.fromIterable(toRead.entrySet())
        .concatMap(
            read ->
                source
                    .documents(
                        read.getKey().namespace(),
                        read.getKey().uuid(),
                        read.getValue(),
                        mapping.filter(read.getKey().namespace().getFullName()))
                    .map(found -> Map.entry(read.getKey(), found)))
        .collectMap(Map.Entry::getKey, Map.Entry::getValue)
        .map(
            found -> {
              BatchPlan plan = new BatchPlan();
              tasks.forEach(task -> add(plan, task, found.get(task.origin())));
              return plan;
            });
  }

  private void add(BatchPlan plan, Task task, SourceReads.@Nullable Documents read) {
    DocumentEvents events = task.events();
    if (events.isReadAgain()) {
      addRead(plan, task, Objects.requireNonNull(read));
    } else if (!events.isInsertedAgain()
        || !Objects.requireNonNull(read).of(task.document().id()).isEmpty()) {
      plan.add(events.target(), task.run(), task.document(), events.statements());
    } else {
      plan.add(events.target(), task.run(), task.document(), events.statements(List.of()));
    }
  }

  private void addRead(BatchPlan plan, Task task, SourceReads.Documents found) {
    String namespace = task.origin().namespace().getFullName();
    plan.read(
        task.document(),
        new Lane.Document(task.origin().namespace(), task.document().id()),
        found.time());
    if (found.gone()) {
      return;
    }
    List<RawBsonDocument> documents =
        mapping.transformed(namespace, found.of(task.document().id()));
    // The source may have deleted the document since. If deletes are not applied, nothing is
    // written in this case.
    if (removes() || !documents.isEmpty()) {
      plan.add(
          task.events().target(), task.run(), task.document(), task.events().statements(documents));
    }
  }
}
