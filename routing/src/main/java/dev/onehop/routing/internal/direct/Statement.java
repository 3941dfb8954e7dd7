package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.direct.shard.Retryability;
import dev.onehop.routing.internal.wire.BsonFields;
import dev.onehop.routing.internal.wire.OpMsg;
import io.netty.buffer.ByteBuf;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What {@link OneShardForwarding} wants to know of a command with one statement: found in one pass
 * over the message, most of which is stepped over.
 */
final class Statement {
  private static final int FLAGS_AT = 16;
  private static final int BODY_AT = 21;

  private final int bodyEnd;
  private String name = "";
  private String collection = "";
  private String database = "";
  private Kind kind = Kind.BY_FILTER;
  private @Nullable RawBsonDocument document;
  private boolean concern;
  private boolean transactionNumber;

  /** How the statement tells where it belongs. */
  enum Kind {
    /** By the document that it inserts. */
    INSERT,
    /** By a filter, as far as that bounds the shard key. */
    BY_FILTER,
    /** By a filter that must have the whole shard key. */
    BY_WHOLE_KEY
  }

  private Statement(int bodyEnd) {
    this.bodyEnd = bodyEnd;
  }

  /**
   * Reads a message.
   *
   * @return null if it is not a command with one statement, or has options that concern its route
   */
  static @Nullable Statement read(ByteBuf frame) {
    int start = frame.readerIndex();
    int end = frame.writerIndex();
    if (end - start < BODY_AT + 5
        || frame.getIntLE(start + 12) != OpMsg.OP_MSG
        || frame.getIntLE(start + FLAGS_AT) != 0
        || frame.getByte(start + BODY_AT - 1) != 0) {
      return null;
    }
    BsonFields body = new BsonFields(frame, start + BODY_AT, end);
    int bodyEnd = BsonFields.endOf(frame, start + BODY_AT);
    Statement statement = new Statement(bodyEnd - start);
    if (!statement.readBody(body)
        || (bodyEnd < end && !statement.readSequence(frame, bodyEnd, end))) {
      return null;
    }
    return statement.document == null || statement.database.isEmpty() ? null : statement;
  }

  private boolean readBody(BsonFields fields) {
    if (!fields.next()) {
      return false;
    }
    name = fields.name();
    collection = fields.string();
    String filter =
        switch (name) {
          case "find" -> "filter";
          case "findAndModify" -> "query";
          case "insert", "update", "delete" -> "";
          default -> null;
        };
    if (filter == null || collection.isEmpty()) {
      return false;
    }
    kind = name.equals("findAndModify") ? Kind.BY_WHOLE_KEY : Kind.BY_FILTER;
    while (fields.next()) {
      String field = fields.name();
      if (field.equals(filter)) {
        if (!fields.isDocument()) {
          return false;
        }
        document = fields.rawDocument();
      } else if (!take(field, fields)) {
        return false;
      }
    }
    return !isConfig(database);
  }

  private static boolean isConfig(String database) {
    return database.equals("admin") || database.equals("config") || database.equals("local");
  }

  private boolean take(String field, BsonFields value) {
    switch (field) {
      case "$db" -> database = value.string();
      case "txnNumber" -> transactionNumber = true;
      case "readConcern" -> {
        concern = true;
        return value.isDocument() && isOfOneTable(value.document());
      }
      case "writeConcern" -> {
        concern = true;
        return value.isDocument() && isAcknowledged(value.document());
      }
      case "$readPreference" -> {
        return value.isDocument() && isPrimary(value.document());
      }
      // What concerns the route, or makes the answer something else than one message.
      case "autocommit",
          "startTransaction",
          "collation",
          "let",
          "tailable",
          "awaitData",
          "documents",
          "updates",
          "deletes",
          "stmtIds",
          "shardVersion",
          "databaseVersion" -> {
        return false;
      }
      default -> {}
    }
    return true;
  }

  /** A snapshot may be older than the table. */
  private static boolean isOfOneTable(BsonFields readConcern) {
    return readConcern.find("level") && !readConcern.string().equals("snapshot");
  }

  private static boolean isAcknowledged(BsonFields writeConcern) {
    return writeConcern.find("w") && !(writeConcern.isNumber() && writeConcern.number() == 0);
  }

  private static boolean isPrimary(BsonFields readPreference) {
    return readPreference.find("mode") && readPreference.string().equals("primary");
  }

  private boolean readSequence(ByteBuf frame, int at, int end) {
    if (frame.getByte(at) != 1 || at + 1 + frame.getIntLE(at + 1) != end) {
      return false;
    }
    int nul = frame.indexOf(at + 5, end, (byte) 0);
    if (nul < 0) {
      return false;
    }
    String identifier =
        frame.toString(at + 5, nul - at - 5, java.nio.charset.StandardCharsets.US_ASCII);
    if (BsonFields.endOf(frame, nul + 1) != end) {
      return false;
    }
    switch (identifier) {
      case "documents" -> {
        kind = Kind.INSERT;
        document = BsonFields.rawDocument(frame, nul + 1, end);
        return name.equals("insert");
      }
      case "updates" -> {
        return name.equals("update") && readUpdate(new BsonFields(frame, nul + 1, end));
      }
      case "deletes" -> {
        return name.equals("delete") && readDelete(new BsonFields(frame, nul + 1, end));
      }
      default -> {
        return false;
      }
    }
  }

  private boolean readUpdate(BsonFields update) {
    while (update.next()) {
      switch (update.name()) {
        case "q" -> document = update.rawDocument();
        case "upsert" -> kind = update.isTrue() ? Kind.BY_WHOLE_KEY : kind;
        case "multi" -> {
          if (update.isTrue()) {
            return false;
          }
        }
        case "collation" -> {
          return false;
        }
        default -> {}
      }
    }
    return document != null;
  }

  private boolean readDelete(BsonFields delete) {
    boolean one = false;
    while (delete.next()) {
      switch (delete.name()) {
        case "q" -> document = delete.rawDocument();
        case "limit" -> one = delete.number() == 1;
        case "collation" -> {
          return false;
        }
        default -> {}
      }
    }
    return one && document != null;
  }

  /** The command's name. */
  String name() {
    return name;
  }

  String namespace() {
    return database + "." + collection;
  }

  Kind kind() {
    return kind;
  }

  /** The filter, or the document to insert. */
  RawBsonDocument document() {
    if (document == null) {
      throw new IllegalStateException("not read");
    }
    return document;
  }

  /** Whether it says its read or write concern itself. */
  boolean hasConcern() {
    return concern;
  }

  Retryability retryability() {
    return name.equals("find")
        ? Retryability.READ
        : transactionNumber ? Retryability.WRITE : Retryability.NEVER;
  }

  /** The message with elements added to its body. */
  ByteBuf with(ByteBuf frame, byte[] first, byte[] second) {
    int start = frame.readerIndex();
    int length = frame.readableBytes();
    int more = first.length + second.length;
    ByteBuf message = frame.alloc().buffer(length + more);
    message.writeBytes(frame, start, bodyEnd - 1);
    message.writeBytes(first).writeBytes(second);
    message.writeBytes(frame, start + bodyEnd - 1, length - bodyEnd + 1);
    message.setIntLE(0, length + more);
    message.setIntLE(BODY_AT, frame.getIntLE(start + BODY_AT) + more);
    return message;
  }
}
