package dev.onehop.copy.internal.apply;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * The writes for a batch. For each collection these are first deletes, then inserts, then updates.
 * Not thread-safe.
 */
final class BatchPlan {
  private final Map<Run, Work> work = new LinkedHashMap<>();
  private final Map<Lane.Document, BsonTimestamp> read = new HashMap<>();
  private final Set<Lane.Document> updated = new HashSet<>();
  private @Nullable Work last;
  private int lastRun;

  /**
   * A run: a group of writes to a collection that are sent together.
   *
   * @param number the number of the run, 0 for most collections. A capped collection may have
   *     several runs, which are written in the order of their numbers
   */
  private record Run(Target target, int number) {}

  /**
   * The writes to a collection.
   *
   * @param deletes the deletes of documents
   * @param inserts the inserts of documents, which run before the updates
   * @param updates the updates and replacements; their order matters only for the same document
   */
  record Work(
      Target target, List<Statement> deletes, List<Statement> inserts, List<Statement> updates) {
    private Work(Target target) {
      this(target, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    private List<Statement> of(Statement.Kind kind) {
      return switch (kind) {
        case DELETE, SWEEP -> deletes;
        case INSERT -> inserts;
        case PUT, UPDATE -> updates;
      };
    }
  }

  /**
   * Adds the writes of one document.
   *
   * @param run the number of the run; runs of the same collection are written in the order of their
   *     numbers
   * @param statements the statements for the document, deletes first
   */
  void add(Target target, int run, Lane.Document document, List<Statement> statements) {
    if (last == null || !last.target().equals(target) || run != lastRun) {
      last = work.computeIfAbsent(new Run(target, run), added -> new Work(added.target()));
      lastRun = run;
    }
    boolean changes = false;
    for (Statement statement : statements) {
      last.of(statement.kind()).add(statement);
      changes |= statement.kind() == Statement.Kind.UPDATE;
    }
    if (changes) {
      updated.add(document);
    }
  }

  /**
   * Records that a document was read from the source. The plan writes the state that the document
   * had at the given time.
   *
   * @param named the same document, identified by the name of its collection and not by the UUID
   */
  void read(Lane.Document document, Lane.Document named, BsonTimestamp time) {
    read.put(document, time);
    read.put(named, time);
  }

  /** Creates a plan that removes the documents that this plan writes. */
  BatchPlan withdrawal() {
    BatchPlan removal = new BatchPlan();
    work.forEach(
        (run, all) -> {
          Work there = new Work(run.target());
          removal.work.put(run, there);
          all.inserts().forEach(each -> there.deletes().add(run.target().deleteAll(each.id())));
          all.updates().forEach(each -> there.deletes().add(run.target().deleteAll(each.id())));
        });
    return removal;
  }

  /** Whether the plan removes documents and writes none. */
  boolean isRemoval() {
    return !work.isEmpty()
        && work.values().stream()
            .allMatch(all -> all.inserts().isEmpty() && all.updates().isEmpty());
  }

  /** The writes in their order, one element for each collection and run. */
  List<Work> work() {
    return List.copyOf(work.values());
  }

  Map<Lane.Document, BsonTimestamp> read() {
    return read;
  }

  /** The documents that must exist at the destination, because the plan updates them. */
  Set<Lane.Document> updated() {
    return updated;
  }
}
