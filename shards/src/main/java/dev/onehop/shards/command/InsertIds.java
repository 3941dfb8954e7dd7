package dev.onehop.shards.command;

import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.OpMsg.Sequence;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import org.bson.RawBsonDocument;
import org.bson.types.ObjectId;

/**
 * Adds the missing {@code _id} to the documents of an insert, as mongos does. The {@code _id} may
 * decide the shard, and it stays the same when the insert is sent again. Drivers also add a missing
 * {@code _id}, but not to documents that they do not decode.
 */
final class InsertIds {
  private static final String LIST = "documents";
  // The start of the field: the type (ObjectId), and "_id" with its terminator.
  private static final byte[] NAME = {0x07, '_', 'i', 'd', 0};
  private static final int FIELD_BYTES = NAME.length + 12;

  private InsertIds() {}

  /** The insert with an {@code _id} in every document. */
  static OpMsg complete(OpMsg insert) {
    List<RawBsonDocument> documents = insert.documents(LIST);
    if (documents.stream().allMatch(document -> document.containsKey("_id"))) {
      return insert;
    }
    List<RawBsonDocument> complete = documents.stream().map(InsertIds::complete).toList();
    return insert
        .withSequences(List.of(new Sequence(LIST, complete)))
        .withBody(insert.bodyWithout(Set.of(LIST)));
  }

  private static RawBsonDocument complete(RawBsonDocument document) {
    if (document.containsKey("_id")) {
      return document;
    }
    ByteBuffer old = document.getByteBuffer().asNIO().slice();
    int length = old.remaining() + FIELD_BYTES;
    ByteBuffer complete = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    complete.putInt(length).put(NAME);
    new ObjectId().putToByteBuffer(complete);
    complete.put(old.position(Integer.BYTES));
    return new RawBsonDocument(complete.array());
  }
}
