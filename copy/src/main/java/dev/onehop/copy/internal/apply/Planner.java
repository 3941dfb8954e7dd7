package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Finds out what is to be written for a batch of events of documents. Thread-safe. */
final class Planner {
  private final Mapping mapping;
  private final Set<CopyOperation> operations;
  private final SourceReads source;
  private final Targets targets;

  Planner(Mapping mapping, Set<CopyOperation> operations, SourceReads source, Targets targets) {
    this.mapping = mapping;
    this.operations = Set.copyOf(operations);
    this.source = source;
    this.targets = targets;
  }

  /** A collection of the source, as of some events. */
  private record Origin(MongoNamespace namespace, @Nullable BsonBinary uuid) {}

  /** What becomes of a document. */
  private record Task(Origin origin, Lane.Document document, DocumentEvents events) {}

  /**
   * Plans a batch. Nothing is written.
   *
   * @param lane of the channel
   * @param readAgain documents for which events alone won't do
   */
  Mono<BatchPlan> plan(List<StreamEvent.Change> changes, Lane lane, Set<Lane.Document> readAgain) {
    List<DocumentEvent> events = new ArrayList<>();
    Map<MongoNamespace, String> names = new LinkedHashMap<>();
    for (StreamEvent.Change change : changes) {
      DocumentEvent event = DocumentEvent.of(change.document());
      if (event != null && event.operation() != null && operations.contains(event.operation())) {
        String destination =
            names.computeIfAbsent(
                event.namespace(), name -> mapping.destination(name.getFullName()));
        if (destination != null) {
          events.add(event);
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
    Map<Lane.Document, Task> tasks = new LinkedHashMap<>();
    for (DocumentEvent event : events) {
      Lane.Document document = event.document();
      if (!lane.has(document, event.time())) {
        Target target = Objects.requireNonNull(known.get(event.namespace()));
        DocumentEvents all =
            tasks
                .computeIfAbsent(
                    document,
                    key ->
                        new Task(
                            new Origin(event.namespace(), event.uuid()),
                            document,
                            new DocumentEvents(target, event.id())))
                .events();
        if (readAgain.contains(document)) {
          all.readAgain();
        } else {
          Lane.Document named = new Lane.Document(event.namespace(), document.id());
          add(event, all, lane.isUncertain(document, named, event.time()));
        }
      }
    }
    return List.copyOf(tasks.values());
  }

  private void add(DocumentEvent event, DocumentEvents to, boolean uncertain) {
    String namespace = event.namespace().getFullName();
    BsonDocument filter = mapping.filter(namespace);
    switch (event.type()) {
      case "insert", "replace" -> {
        BsonDocument changed = mapping.transformed(namespace, event.fullDocument());
        if (filter != null || (!removes() && !to.target().isPlacedById())) {
          // Only the server knows whether it fits, and only a delete would tell of its old place.
          to.readAgain();
        } else if (changed == null) {
          if (removes()) {
            to.delete(event.key());
          }
        } else {
          boolean inserted = event.type().equals("insert");
          to.put(event.key(), raw(changed), inserted, uncertain || !inserted);
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

  private static RawBsonDocument raw(BsonDocument document) {
    return document instanceof RawBsonDocument raw
        ? raw
        : new RawBsonDocument(document, new BsonDocumentCodec());
  }

  private Mono<BatchPlan> plan(List<Task> tasks) {
    BatchPlan plan = new BatchPlan();
    Map<Origin, List<Task>> toRead = new LinkedHashMap<>();
    for (Task task : tasks) {
      if (task.events().isReadAgain()) {
        toRead.computeIfAbsent(task.origin(), origin -> new ArrayList<>()).add(task);
      } else {
        plan.add(task.events().target(), task.document(), task.events().statements());
      }
    }
    return Flux.fromIterable(toRead.entrySet())
        .concatMap(
            read -> {
              Origin origin = read.getKey();
              return source
                  .documents(
                      origin.namespace(),
                      origin.uuid(),
                      read.getValue().stream().map(task -> task.events().id()).toList(),
                      mapping.filter(origin.namespace().getFullName()))
                  .doOnNext(found -> add(plan, origin, read.getValue(), found));
            })
        .then(Mono.just(plan));
  }

  private void add(BatchPlan plan, Origin origin, List<Task> tasks, SourceReads.Documents found) {
    String namespace = origin.namespace().getFullName();
    for (Task task : tasks) {
      plan.read(
          task.document(),
          new Lane.Document(origin.namespace(), task.document().id()),
          found.time());
      if (!found.gone()) {
        List<RawBsonDocument> documents = new ArrayList<>();
        for (RawBsonDocument document : found.of(task.document().id())) {
          BsonDocument changed = mapping.transformed(namespace, document);
          if (changed != null) {
            documents.add(raw(changed));
          }
        }
        // It may have been deleted since.
        if (removes() || !documents.isEmpty()) {
          plan.add(task.events().target(), task.document(), task.events().statements(documents));
        }
      }
    }
  }
}
