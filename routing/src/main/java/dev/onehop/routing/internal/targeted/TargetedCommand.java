package dev.onehop.routing.internal.targeted;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.shards.command.WriteTargets;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.CommandHead;
import io.netty.buffer.ByteBuf;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A command with the fields that routing needs, and the changes that routing makes in its message.
 * It must not be used after its message is released.
 */
final class TargetedCommand extends CommandHead {
  /** The commands whose route a shard key can decide. */
  static final Set<String> OPERATIONS =
      Set.of(
          "find",
          "aggregate",
          "count",
          "distinct",
          "findAndModify",
          "findandmodify",
          "insert",
          "update",
          "delete");

  private static final Set<String> READS =
      Set.of(
          "find",
          "aggregate",
          "count",
          "distinct",
          "listDatabases",
          "listCollections",
          "listIndexes");

  private static final Set<String> CONFIG = Set.of("admin", "config", "local");

  private final int requestId;
  private long cursorId;

  private TargetedCommand(ByteBuf frame) {
    super(frame);
    this.requestId = frame.getIntLE(frame.readerIndex() + 4);
  }

  /**
   * Reads a message.
   *
   * @return null if the message is not an OP_MSG, or if its flags or the order of its sections are
   *     not as drivers send them
   * @throws MalformedDocumentException if the command is invalid BSON
   * @throws IndexOutOfBoundsException if the command is invalid BSON
   */
  static @Nullable TargetedCommand of(ByteBuf frame) {
    TargetedCommand command = read(frame, TargetedCommand::new);
    if (command != null && command.cursorIdAt() != 0) {
      command.cursorId = frame.getLongLE(command.cursorIdAt());
    }
    return command;
  }

  boolean isExplain() {
    return name().equals("explain");
  }

  boolean isChangeStream() {
    return firstStage().equals("$changeStream");
  }

  /**
   * Clears the flag exhaustAllowed, so that the server sends a single reply. The driver accepts
   * this, because the flag allows several replies and does not require them.
   */
  void forbidExhaust() {
    if (allowsExhaust()) {
      frame().setIntLE(frame().readerIndex() + FLAGS_AT, flags() & ~EXHAUST_ALLOWED);
    }
  }

  /** The message to send, on the same bytes; the receiver releases it. */
  ByteBuf message() {
    return frame().retainedDuplicate();
  }

  /** Whether the statements may be sent as several commands. */
  boolean isSplittable() {
    // The parts of a retryable write need statement ids. The strict Stable API does not allow
    // statement ids, so such a write is not split.
    return expectsReply() && !isExplain() && !(isStrict() && isNumbered());
  }

  /** The request id that the driver has set. */
  int requestId() {
    return requestId;
  }

  /** The cursor of a getMore, by the driver's id; 0 for any other command. */
  long cursorId() {
    return cursorId;
  }

  /**
   * Replaces the cursor id in the message.
   *
   * @param id the mongos' id of the cursor
   */
  void setCursorId(long id) {
    frame().setLongLE(cursorIdAt(), id);
  }

  /** Restores the driver's request id and cursor id after an attempt to send the message. */
  void restore() {
    frame().setIntLE(frame().readerIndex() + 4, requestId);
    if (cursorId != 0) {
      setCursorId(cursorId);
    }
  }

  /** Whether a shard key can decide the route of this command. */
  boolean isOperation() {
    return OPERATIONS.contains(operation())
        && !collection().isEmpty()
        && !CONFIG.contains(database())
        && !isChangeStream();
  }

  boolean isGetMore() {
    return name().equals("getMore");
  }

  boolean endsTransaction() {
    return name().equals("commitTransaction") || name().equals("abortTransaction");
  }

  /** Whether a server recognises a repetition of the command by its transaction number. */
  boolean isRetryableWrite() {
    return isNumbered() && (!isInTransaction() || endsTransaction());
  }

  /** Whether the driver, by default, sends the command again after a broken connection. */
  boolean isRetriedByDriver() {
    return isRetryableWrite() || (READS.contains(name()) && !isInTransaction());
  }

  BsonInt64 transactionNumber() {
    return new BsonInt64(number());
  }

  /** The target of one statement of this command. */
  Target target(RoutingTable table, RawBsonDocument statement) {
    return WriteTargets.of(table, operation(), statement);
  }

  /** The target of this command if it has no list of statements, such as a find. */
  Target target(RoutingTable table) {
    TargetingOptions options =
        hasCollationOrVariables()
            ? new TargetingOptions(collation(), variables())
            : TargetingOptions.NONE;
    BsonDocument given = filter();
    BsonDocument filter = given == null ? new BsonDocument() : given;
    return switch (operation()) {
      case "aggregate" ->
          Targeter.aggregate(
              table, filter.values().stream().map(stage -> stage.asDocument()).toList(), options);
      case "findAndModify", "findandmodify" -> Targeter.findAndModify(table, filter, options);
      default -> Targeter.find(table, filter, options);
    };
  }
}
