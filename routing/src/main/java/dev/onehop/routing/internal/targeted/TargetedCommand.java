package dev.onehop.routing.internal.targeted;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.shards.command.WriteTargets;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.CommandHead;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What routing wants to know of a command, and what it changes in its message. Valid as long as the
 * message is.
 */
final class TargetedCommand {
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

  private final CommandHead head;
  private final ByteBuf frame;
  private final int requestId;
  private final long cursorId;

  private TargetedCommand(CommandHead head) {
    this.head = head;
    this.frame = head.frame();
    this.requestId = frame.getIntLE(frame.readerIndex() + 4);
    this.cursorId = head.cursorIdAt() == 0 ? 0 : frame.getLongLE(head.cursorIdAt());
  }

  /**
   * Reads a message.
   *
   * @return null if it is no OP_MSG, or one with flags or an order of sections that drivers don't
   *     send
   * @throws MalformedDocumentException if it is no BSON
   * @throws IndexOutOfBoundsException likewise
   */
  static @Nullable TargetedCommand read(ByteBuf frame) {
    CommandHead head = CommandHead.read(frame);
    return head == null ? null : new TargetedCommand(head);
  }

  /** What sharing wants to know of it. */
  CommandHead head() {
    return head;
  }

  String name() {
    return head.name();
  }

  String namespace() {
    return head.database() + "." + head.collection();
  }

  /** The command by which it is routed: its own name, or that of the command it explains. */
  String operation() {
    return head.operation();
  }

  boolean isExplain() {
    return head.name().equals("explain");
  }

  /** The name of an aggregation's first stage, "" if there is none. */
  String firstStage() {
    return head.firstStage();
  }

  boolean isChangeStream() {
    return head.firstStage().equals("$changeStream");
  }

  boolean expectsReply() {
    return head.expectsReply();
  }

  /** Has the server answer once, as a mongos may that is asked for a stream of answers. */
  void forbidExhaust() {
    if (head.allowsExhaust()) {
      frame.setIntLE(
          frame.readerIndex() + CommandHead.FLAGS_AT, head.flags() & ~CommandHead.EXHAUST_ALLOWED);
    }
  }

  /** The message to be sent, on the same bytes; the receiver releases it. */
  ByteBuf message() {
    return frame.retainedDuplicate();
  }

  /** Whether its statements may be sent as several commands. */
  boolean isSplittable() {
    // To name statements of a retryable write is not part of the stable API.
    return expectsReply() && !isExplain() && !(head.isStrict() && head.isNumbered());
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
    frame.setLongLE(head.cursorIdAt(), id);
  }

  /** Makes the message again what it was before an attempt to send it. */
  void restore() {
    frame.setIntLE(frame.readerIndex() + 4, requestId);
    if (cursorId != 0) {
      setCursorId(cursorId);
    }
  }

  /** Whether a shard key can decide where it goes. */
  boolean isOperation() {
    return OPERATIONS.contains(head.operation())
        && !head.collection().isEmpty()
        && !CONFIG.contains(head.database())
        && !isChangeStream();
  }

  boolean isGetMore() {
    return head.name().equals("getMore");
  }

  boolean isInTransaction() {
    return head.isInTransaction();
  }

  boolean startsTransaction() {
    return head.startsTransaction();
  }

  boolean endsTransaction() {
    return head.name().equals("commitTransaction") || head.name().equals("abortTransaction");
  }

  /** Whether another mongos than the transaction's own can end it. */
  boolean isRecoverable() {
    return head.isRecoverable();
  }

  /** Whether a server knows by its number whether it has carried it out. */
  boolean isRetryableWrite() {
    return head.isNumbered() && (!head.isInTransaction() || endsTransaction());
  }

  /** Whether the driver, as it is by default, sends it again after a connection broke. */
  boolean isRetriedByDriver() {
    return isRetryableWrite() || (READS.contains(head.name()) && !head.isInTransaction());
  }

  /** Its session; null if it has none. */
  @Nullable RawBsonDocument session() {
    return head.session();
  }

  BsonInt64 transactionNumber() {
    return new BsonInt64(head.number());
  }

  boolean isOrdered() {
    return head.isOrdered();
  }

  /** {@code maxTimeMS}, 0 if there is none. */
  long maxTimeMillis() {
    return head.maxTimeMillis();
  }

  /** Its read preference; null for the primary. */
  @Nullable BsonDocument readPreference() {
    return head.readPreference();
  }

  /** Whether it is an insert, update or delete. */
  boolean isWriteList() {
    return head.isWriteList();
  }

  /** The statements of an insert, update or delete. */
  List<RawBsonDocument> statements() {
    return head.statements();
  }

  /** Where one statement of it belongs under a table. */
  Target target(RoutingTable table, RawBsonDocument statement) {
    return WriteTargets.of(table, head.operation(), statement);
  }

  /** Where it belongs under a table if it is no list of statements. */
  Target target(RoutingTable table) {
    TargetingOptions options =
        head.hasCollationOrVariables()
            ? new TargetingOptions(head.collation(), head.variables())
            : TargetingOptions.NONE;
    BsonDocument given = head.filter();
    BsonDocument filter = given == null ? new BsonDocument() : given;
    return switch (head.operation()) {
      case "aggregate" ->
          Targeter.aggregate(
              table, filter.values().stream().map(stage -> stage.asDocument()).toList(), options);
      case "findAndModify", "findandmodify" -> Targeter.findAndModify(table, filter, options);
      default -> Targeter.find(table, filter, options);
    };
  }
}
