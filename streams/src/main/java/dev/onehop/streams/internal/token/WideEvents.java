package dev.onehop.streams.internal.token;

import dev.onehop.core.bson.BsonPath;
import java.util.Set;
import org.bson.BsonString;
import org.bson.RawBsonDocument;

/** Detects wide events. A wide event concerns more than one document, as {@code drop} does. */
public final class WideEvents {
  private static final BsonPath KEY = BsonPath.of("documentKey");
  private static final BsonPath TYPE = BsonPath.of("operationType");
  private static final Set<String> OF_DOCUMENTS = Set.of("insert", "update", "replace", "delete");

  private WideEvents() {}

  /**
   * Whether an event concerns more than one document. The result is false if the pipeline has
   * removed the event's {@code operationType}.
   */
  public static boolean isWide(RawBsonDocument event) {
    return TYPE.value(event) instanceof BsonString name
        && !OF_DOCUMENTS.contains(name.getValue())
        && KEY.find(event) == null;
  }
}
