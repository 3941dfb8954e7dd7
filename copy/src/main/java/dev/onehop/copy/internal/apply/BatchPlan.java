package dev.onehop.copy.internal.apply;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;

/**
 * What is written for a batch: rounds of statements, one round after the other. A round has at most
 * one statement for a document, and so no order in it.
 */
final class BatchPlan {
  static final BatchPlan EMPTY = new BatchPlan();

  private final Map<Target, List<Round>> rounds = new LinkedHashMap<>();
  private final Map<Lane.Document, BsonTimestamp> read = new HashMap<>();
  private final Set<Lane.Document> updated = new HashSet<>();
  private final AtomicBoolean tried = new AtomicBoolean();
  private volatile Map<String, BsonValue> placement = Map.of();
  private int documentsRead;

  /** Statements for one collection. */
  static final class Round {
    private final Target target;
    private final List<Statement> statements = new ArrayList<>();

    private Round(Target target) {
      this.target = target;
    }

    Target target() {
      return target;
    }

    List<Statement> statements() {
      return statements;
    }

    /** How many documents match, or are inserted. */
    long expected() {
      return statements.stream()
          .filter(statement -> statement.kind() != Statement.Kind.DELETE)
          .count();
    }
  }

  /**
   * @param statements for one document, in their order
   */
  void add(Target target, Lane.Document document, List<Statement> statements) {
    List<Round> all = rounds.computeIfAbsent(target, key -> new ArrayList<>());
    for (int i = 0; i < statements.size(); i++) {
      if (i == all.size()) {
        all.add(new Round(target));
      }
      all.get(i).statements.add(statements.get(i));
    }
    if (statements.stream().anyMatch(Statement::isUpdate)) {
      updated.add(document);
    }
  }

  /**
   * A document is written as it was at a time.
   *
   * @param named the same by the name of its collection
   */
  void read(Lane.Document document, Lane.Document named, BsonTimestamp time) {
    read.put(document, time);
    read.put(named, time);
    documentsRead++;
  }

  /** The collections that a transaction writes to. */
  Set<String> namespaces() {
    return rounds.keySet().stream()
        .filter(target -> !target.capped())
        .map(target -> target.namespace().getFullName())
        .collect(Collectors.toSet());
  }

  /** How the collections were placed before the transaction, see {@link Placements}. */
  Map<String, BsonValue> placement() {
    return placement;
  }

  void placement(Map<String, BsonValue> before) {
    placement = before;
  }

  /** Whether nobody has asked this before. */
  boolean isFirstTry() {
    return tried.compareAndSet(false, true);
  }

  int documentsRead() {
    return documentsRead;
  }

  /**
   * The rounds in their order.
   *
   * @param capped those of collections that take no transactions, or the others
   */
  List<Round> rounds(boolean capped) {
    List<Round> all = new ArrayList<>();
    rounds.forEach(
        (target, each) -> {
          if (target.capped() == capped) {
            all.addAll(each);
          }
        });
    return all;
  }

  Map<Lane.Document, BsonTimestamp> read() {
    return read;
  }

  /** The documents that have to be there. */
  Set<Lane.Document> updated() {
    return updated;
  }
}
