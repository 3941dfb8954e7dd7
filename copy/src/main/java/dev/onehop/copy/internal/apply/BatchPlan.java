package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonTimestamp;

/**
 * What is written for a batch: rounds of statements, one round after the other. A round has at most
 * one statement for a document, and so no order in it.
 */
final class BatchPlan {
  static final BatchPlan EMPTY = new BatchPlan();

  private final Map<MongoNamespace, List<Round>> rounds = new LinkedHashMap<>();
  private final Map<Lane.Document, BsonTimestamp> read = new HashMap<>();
  private final Set<Lane.Document> updated = new HashSet<>();

  /** Statements for one collection. */
  static final class Round {
    private final MongoNamespace namespace;
    private final List<Statement> statements = new ArrayList<>();

    private Round(MongoNamespace namespace) {
      this.namespace = namespace;
    }

    MongoNamespace namespace() {
      return namespace;
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
  void add(MongoNamespace namespace, Lane.Document document, List<Statement> statements) {
    List<Round> all = rounds.computeIfAbsent(namespace, name -> new ArrayList<>());
    for (int i = 0; i < statements.size(); i++) {
      if (i == all.size()) {
        all.add(new Round(namespace));
      }
      all.get(i).statements.add(statements.get(i));
    }
    if (statements.stream().anyMatch(Statement::isUpdate)) {
      updated.add(document);
    }
  }

  /** A document is written as it was at a time. */
  void read(Lane.Document document, BsonTimestamp time) {
    read.put(document, time);
  }

  List<Round> rounds() {
    List<Round> all = new ArrayList<>();
    rounds.values().forEach(all::addAll);
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
