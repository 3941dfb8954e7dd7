package dev.onehop.shards.command;

import dev.onehop.shards.cluster.Retryability;
import dev.onehop.wire.message.BsonFields;
import dev.onehop.wire.message.CommandHead;
import io.netty.buffer.ByteBuf;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** A command with one statement, with the fields that {@link OneShardForwarding} needs. */
final class ShardStatement {
  private final CommandHead head;
  private Kind kind = Kind.BY_FILTER;
  private @Nullable RawBsonDocument document;

  /** How the shard of the statement is found. */
  enum Kind {
    /** By the document to insert. */
    INSERT,
    /** By a filter, which may contain the whole shard key or a part of it. */
    BY_FILTER,
    /** By a filter that must contain the whole shard key. */
    BY_WHOLE_KEY
  }

  private ShardStatement(CommandHead head) {
    this.head = head;
  }

  /**
   * Reads a message.
   *
   * @return null if the command does not have exactly one statement, or has options that affect its
   *     route
   */
  static @Nullable ShardStatement read(ByteBuf frame) {
    CommandHead head = CommandHead.read(frame);
    if (head == null || head.flags() != 0 || head.collection().isEmpty() || isOfOtherRoute(head)) {
      return null;
    }
    ShardStatement statement = new ShardStatement(head);
    return statement.readStatement() && statement.document != null ? statement : null;
  }

  /**
   * Whether a command has options that affect its route, or that make its reply more than a single
   * message.
   */
  private static boolean isOfOtherRoute(CommandHead head) {
    String database = head.database();
    BsonFields readConcern = head.readConcern();
    BsonFields writeConcern = head.writeConcern();
    BsonFields readPreference = head.readPreferenceFields();
    return head.isInTransaction()
        || head.startsTransaction()
        || head.hasCollationOrVariables()
        || head.isTailable()
        || head.isVersioned()
        || database.isEmpty()
        || database.equals("admin")
        || database.equals("config")
        || database.equals("local")
        || (readConcern != null && !isOfOneTable(readConcern))
        || (writeConcern != null && !isAcknowledged(writeConcern))
        || (readPreference != null && !isPrimary(readPreference));
  }

  private boolean readStatement() {
    switch (head.name()) {
      case "find", "findAndModify" -> {
        kind = head.name().equals("find") ? Kind.BY_FILTER : Kind.BY_WHOLE_KEY;
        document = head.filter();
        return !head.hasSequences();
      }
      case "insert", "update", "delete" -> {
        BsonFields only = head.onlyStatement();
        return only != null && readWrite(only);
      }
      default -> {
        return false;
      }
    }
  }

  private boolean readWrite(BsonFields only) {
    return switch (head.name()) {
      case "insert" -> {
        kind = Kind.INSERT;
        document = head.onlyDocument();
        yield true;
      }
      case "update" -> readUpdate(only);
      default -> readDelete(only);
    };
  }

  /**
   * Whether the current table shows the owners of the documents to read. False for a snapshot read,
   * which may need the owners at an earlier time.
   */
  private static boolean isOfOneTable(BsonFields readConcern) {
    return readConcern.find("level") && !readConcern.string().equals("snapshot");
  }

  private static boolean isAcknowledged(BsonFields writeConcern) {
    return writeConcern.find("w") && !(writeConcern.isNumber() && writeConcern.number() == 0);
  }

  private static boolean isPrimary(BsonFields readPreference) {
    return readPreference.find("mode") && readPreference.string().equals("primary");
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
    return head.name();
  }

  String namespace() {
    return head.database() + "." + head.collection();
  }

  /** The parsed head. It decides whether the command may use a shared socket. */
  CommandHead head() {
    return head;
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

  /** Whether the command contains a read or write concern, so that no default is added. */
  boolean hasConcern() {
    return head.readConcern() != null || head.writeConcern() != null;
  }

  Retryability retryability() {
    return head.name().equals("find")
        ? Retryability.READ
        : head.isNumbered() ? Retryability.WRITE : Retryability.NEVER;
  }

  /** The message with elements added to its body. */
  ByteBuf with(ByteBuf frame, byte[] first, byte[] second) {
    int start = frame.readerIndex();
    int bodyEnd = head.bodyBytes();
    int length = frame.readableBytes();
    int more = first.length + second.length;
    ByteBuf message = frame.alloc().buffer(length + more);
    message.writeBytes(frame, start, bodyEnd - 1);
    message.writeBytes(first).writeBytes(second);
    message.writeBytes(frame, start + bodyEnd - 1, length - bodyEnd + 1);
    message.setIntLE(0, length + more);
    message.setIntLE(CommandHead.BODY_AT, frame.getIntLE(start + CommandHead.BODY_AT) + more);
    return message;
  }
}
