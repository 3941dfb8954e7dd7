package dev.onehop.copy.internal.apply;

import java.util.List;
import java.util.Locale;
import org.bson.BsonDocument;

/** Statements as text: the operation, the filter, and the written values. */
final class StatementText {
  private StatementText() {}

  static List<String> of(List<Statement> statements) {
    return statements.stream().map(StatementText::of).toList();
  }

  private static String of(Statement statement) {
    BsonDocument body = BsonDocument.parse(statement.body().toJson());
    String kind = statement.kind().name().toLowerCase(Locale.ROOT);
    if (statement.kind() == Statement.Kind.INSERT) {
      return kind + " " + body;
    }
    String collation = body.containsKey("collation") ? " simple" : "";
    if (statement.isDelete()) {
      return kind + " " + body.get("q") + collation;
    }
    Object what = body.isArray("u") ? body.getArray("u").getValues() : body.get("u");
    return kind + " " + body.get("q") + " " + what + collation;
  }
}
