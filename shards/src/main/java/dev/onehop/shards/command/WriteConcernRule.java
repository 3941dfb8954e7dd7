package dev.onehop.shards.command;

import dev.onehop.wire.message.OpMsg;
import org.bson.BsonDocument;
import org.bson.BsonInt32;

/**
 * Changes an unacknowledged write to an acknowledged write, as mongos does. Without a reply, a
 * shard's refusal would be lost.
 */
final class WriteConcernRule {
  private WriteConcernRule() {}

  static OpMsg of(OpMsg command) {
    OpMsg answered = command.expectsReply() ? command : command.withoutFlags();
    BsonDocument body = command.body();
    if (!body.isDocument("writeConcern")) {
      return answered;
    }
    BsonDocument concern = body.getDocument("writeConcern");
    if (!concern.isNumber("w") || concern.getNumber("w").intValue() != 0) {
      return answered;
    }
    BsonDocument acknowledged = new BsonDocument();
    acknowledged.putAll(concern);
    acknowledged.put("w", new BsonInt32(1));
    BsonDocument changed = new BsonDocument();
    body.forEach(changed::append);
    changed.put("writeConcern", acknowledged);
    return answered.withBody(changed);
  }
}
