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
 * What routing wants to know of a command, and what it changes in its message. Valid as long as the
 * message is.
 */
final class TargetedCommand extends CommandHead {
  /** The commands that a shard key can decide. */
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
   * @return null if it is no OP_MSG, or one with flags or an order of sections that drivers don't
   *     send
   * @throws MalformedDocumentException if it is no BSON
   * @throws IndexOutOfBoundsException likewise
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

  /** Has the server answer once, as a mongos may that is asked for a stream of answers. */
  void forbidExhaust() {
    if (allowsExhaust()) {
      frame().setIntLE(frame().readerIndex() + FLAGS_AT, flags() & ~EXHAUST_ALLOWED);
    }
  }

  /** The message to be sent, on the same bytes; the receiver releases it. */
  ByteBuf message() {
    return frame().retainedDuplicate();
  }

  /** Whether its statements may be sent as several commands. */
  boolean isSplittable() {
    // To name statements of a retryable write is not part of the stable API.
    return expectsReply() && !isExplain() && !(isStrict() && isNumbered());
  }

  /** The driver's id of the message. */
  int requestId() {
    return requestId;
  }

  /** The cursor that is to go on, by the driver's id; 0 if it is no getMore. */
  long cursorId() {
    return cursorId;
  }

  /**
   * Has the message name a cursor by another id.
   *
   * @param id as its mongos knows it
   */
  void setCursorId(long id) {
    frame().setLongLE(cursorIdAt(), id);
  }

  /** Makes the message again what it was before an attempt to send it. */
  void restore() {
    frame().setIntLE(frame().readerIndex() + 4, requestId);
    if (cursorId != 0) {
      setCursorId(cursorId);
    }
  }

  /** Whether a shard key can decide where it goes. */
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

  /** Whether a server knows by its number whether it has carried it out. */
  boolean isRetryableWrite() {
    return isNumbered() && (!isInTransaction() || endsTransaction());
  }

  /** Whether the driver, as it is by default, sends it again after a connection broke. */
  boolean isRetriedByDriver() {
    return isRetryableWrite() || (READS.contains(name()) && !isInTransaction());
  }

  BsonInt64 transactionNumber() {
    return new BsonInt64(number());
  }

  /** Where one statement of it belongs under a table. */
  Target target(RoutingTable table, RawBsonDocument statement) {
    return WriteTargets.of(table, operation(), statement);
  }

  /** Where it belongs under a table if it is no list of statements. */
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
