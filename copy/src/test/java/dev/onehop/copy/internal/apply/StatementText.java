package dev.onehop.copy.internal.apply;

import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.WriteModel;
import java.util.List;
import org.bson.RawBsonDocument;

/** Statements to read: what is done, the filter, and what is written. */
final class StatementText {
  private StatementText() {}

  static List<String> of(List<Statement> statements) {
    return statements.stream().map(StatementText::of).toList();
  }

  private static String of(Statement statement) {
    WriteModel<RawBsonDocument> model = statement.model();
    String kind = statement.kind().name().toLowerCase(java.util.Locale.ROOT);
    if (model instanceof DeleteOneModel<RawBsonDocument> delete) {
      return kind + " one " + delete.getFilter();
    }
    if (model instanceof DeleteManyModel<RawBsonDocument> delete) {
      return kind + " all " + delete.getFilter();
    }
    if (model instanceof ReplaceOneModel<RawBsonDocument> replace) {
      return kind + " " + replace.getFilter() + " " + replace.getReplacement().toJson();
    }
    UpdateOneModel<RawBsonDocument> update = (UpdateOneModel<RawBsonDocument>) model;
    Object what = update.getUpdate() == null ? update.getUpdatePipeline() : update.getUpdate();
    return kind + " " + update.getFilter() + " " + what;
  }
}
