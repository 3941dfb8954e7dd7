package dev.onehop.routing.internal.targeted;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.routing.internal.command.StatementLists;
import dev.onehop.routing.internal.command.WriteTargets;
import dev.onehop.routing.internal.wire.BsonFields;
import dev.onehop.routing.internal.wire.BsonFields.MalformedDocumentException;
import dev.onehop.routing.internal.wire.OpMsg;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What routing wants to know of a command: found in one pass over the top level of its message.
 * Filters and documents are copied out of it when they are asked for. Valid as long as the message
 * is.
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

  private static final Set<String> WRITES = Set.of("insert", "update", "delete");
  private static final Set<String> CONFIG = Set.of("admin", "config", "local");
  private static final int FLAGS_AT = 16;
  private static final int BODY_AT = 21;

  /** Flag of OP_MSG: the sender takes a stream of answers. */
  private static final int EXHAUST_ALLOWED = 1 << 16;

  private static final int UNDERSTOOD = OpMsg.MORE_TO_COME | EXHAUST_ALLOWED;

  private final ByteBuf frame;
  private final int flags;
  private final int requestId;
  private long cursorId;
  private String name = "";
  private String operation = "";
  private String collection = "";
  private String database = "admin";
  private String firstStage = "";
  private int cursorIdAt;
  private int filterAt;
  private int collationAt;
  private int letAt;
  private int listAt;
  private int listEnd;
  private boolean listInBody;
  private int sessionAt;
  private int readPreferenceAt;
  private boolean numbered;
  private long number;
  private boolean transaction;
  private boolean starts;
  private boolean recoverable;
  private boolean strict;
  private boolean ordered = true;
  private long maxTimeMillis;

  private TargetedCommand(ByteBuf frame, int flags) {
    this.frame = frame;
    this.flags = flags;
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
  static @Nullable TargetedCommand read(ByteBuf frame) {
    int start = frame.readerIndex();
    int end = frame.writerIndex();
    if (end - start < BODY_AT + 5
        || frame.getIntLE(start + 12) != OpMsg.OP_MSG
        || (frame.getIntLE(start + FLAGS_AT) & ~UNDERSTOOD) != 0
        || frame.getByte(start + BODY_AT - 1) != 0) {
      return null;
    }
    TargetedCommand command = new TargetedCommand(frame, frame.getIntLE(start + FLAGS_AT));
    command.readBody(new BsonFields(frame, start + BODY_AT, end));
    int at = BsonFields.endOf(frame, start + BODY_AT);
    while (at < end) {
      if (frame.getByte(at) != 1) {
        return null;
      }
      at = command.readSequence(at + 1, end);
    }
    return command;
  }

  private void readBody(BsonFields fields) {
    if (!fields.next()) {
      throw new MalformedDocumentException("a command without a name");
    }
    name = fields.name();
    operation = name;
    collection = fields.string();
    if (name.equals("getMore")) {
      cursorIdAt = fields.valueAt();
      cursorId = fields.isInt64() ? frame.getLongLE(cursorIdAt) : 0;
      collection = "";
    } else if (name.equals("explain") && fields.isDocument()) {
      readExplained(fields.document());
    }
    readFields(fields);
  }

  /** Where it is explained is where it would be carried out. */
  private void readExplained(BsonFields fields) {
    if (fields.next()) {
      operation = fields.name();
      collection = fields.string();
      readFields(fields);
    }
  }

  private void readFields(BsonFields fields) {
    boolean write = WRITES.contains(operation);
    while (fields.next()) {
      switch (fields.name()) {
        case "$db" -> database = fields.string();
        case "filter" -> filterAt = operation.equals("find") ? documentAt(fields) : filterAt;
        case "query" -> filterAt = documentAt(fields);
        case "pipeline" -> readPipeline(fields);
        case "collation" -> collationAt = documentAt(fields);
        case "let" -> letAt = documentAt(fields);
        case "lsid" -> sessionAt = documentAt(fields);
        case "$readPreference" -> readPreferenceAt = documentAt(fields);
        case "txnNumber" -> {
          numbered = true;
          number = fields.number();
        }
        case "autocommit" -> transaction = true;
        case "startTransaction" -> starts = fields.isTrue();
        case "recoveryToken" -> recoverable = true;
        case "ordered" -> ordered = fields.isTrue();
        case "apiStrict" -> strict = fields.isTrue();
        case "maxTimeMS" -> maxTimeMillis = fields.number();
        case "documents", "updates", "deletes" -> {
          if (write && fields.isDocument()) {
            listAt = fields.valueAt();
            listInBody = true;
          }
        }
        default -> {}
      }
    }
  }

  private static int documentAt(BsonFields field) {
    return field.isDocument() ? field.valueAt() : 0;
  }

  private void readPipeline(BsonFields field) {
    filterAt = documentAt(field);
    if (filterAt != 0) {
      BsonFields stages = field.document();
      if (stages.next() && stages.isDocument()) {
        BsonFields stage = stages.document();
        firstStage = stage.next() ? stage.name() : "";
      }
    }
  }

  /** Where the next section begins. */
  private int readSequence(int at, int end) {
    int next = at + frame.getIntLE(at);
    int nul = frame.indexOf(at + 4, end, (byte) 0);
    if (nul < 0 || next <= nul || next > end) {
      throw new MalformedDocumentException("a section reaches beyond its message");
    }
    String identifier = frame.toString(at + 4, nul - at - 4, StandardCharsets.US_ASCII);
    if (WRITES.contains(name) && identifier.equals(StatementLists.field(name))) {
      listAt = nul + 1;
      listEnd = next;
    }
    return next;
  }

  String name() {
    return name;
  }

  String namespace() {
    return database + "." + collection;
  }

  /** The command by which it is routed: its own name, or that of the command it explains. */
  String operation() {
    return operation;
  }

  boolean isExplain() {
    return name.equals("explain");
  }

  /** The name of an aggregation's first stage, "" if there is none. */
  String firstStage() {
    return firstStage;
  }

  boolean isChangeStream() {
    return firstStage.equals("$changeStream");
  }

  boolean expectsReply() {
    return (flags & OpMsg.MORE_TO_COME) == 0;
  }

  /** Has the server answer once, as a mongos may that is asked for a stream of answers. */
  void forbidExhaust() {
    if ((flags & EXHAUST_ALLOWED) != 0) {
      frame.setIntLE(frame.readerIndex() + FLAGS_AT, flags & ~EXHAUST_ALLOWED);
    }
  }

  /** The message to be sent, on the same bytes; the receiver releases it. */
  ByteBuf message() {
    return frame.retainedDuplicate();
  }

  /** Whether its statements may be sent as several commands. */
  boolean isSplittable() {
    // To name statements of a retryable write is not part of the stable API.
    return expectsReply() && !isExplain() && !(strict && numbered);
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
    frame.setLongLE(cursorIdAt, id);
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
    return OPERATIONS.contains(operation)
        && !collection.isEmpty()
        && !CONFIG.contains(database)
        && !isChangeStream();
  }

  boolean isGetMore() {
    return name.equals("getMore");
  }

  boolean isInTransaction() {
    return transaction;
  }

  boolean startsTransaction() {
    return transaction && starts;
  }

  boolean endsTransaction() {
    return name.equals("commitTransaction") || name.equals("abortTransaction");
  }

  /** Whether another mongos than the transaction's own can end it. */
  boolean isRecoverable() {
    return recoverable;
  }

  /** Whether a server knows by its number whether it has carried it out. */
  boolean isRetryableWrite() {
    return numbered && (!transaction || endsTransaction());
  }

  /** Its session; null if it has none. */
  @Nullable RawBsonDocument session() {
    return sessionAt == 0 ? null : document(sessionAt);
  }

  BsonInt64 transactionNumber() {
    return new BsonInt64(number);
  }

  boolean isOrdered() {
    return ordered;
  }

  /** {@code maxTimeMS}, 0 if there is none. */
  long maxTimeMillis() {
    return maxTimeMillis;
  }

  /** Its read preference; null for the primary. */
  @Nullable BsonDocument readPreference() {
    return readPreferenceAt == 0 ? null : document(readPreferenceAt);
  }

  /** Whether it is an insert, update or delete. */
  boolean isWriteList() {
    return listAt != 0;
  }

  /** The statements of an insert, update or delete. */
  List<RawBsonDocument> statements() {
    List<RawBsonDocument> statements = new ArrayList<>();
    if (listInBody) {
      BsonFields elements =
          new BsonFields(frame, listAt, listAt + Math.max(0, frame.getIntLE(listAt)));
      while (elements.next()) {
        statements.add(elements.rawDocument());
      }
      return statements;
    }
    for (int at = listAt; at < listEnd; ) {
      int next = BsonFields.endOf(frame, at);
      if (next <= at || next > listEnd) {
        throw new MalformedDocumentException("a document reaches beyond its section");
      }
      statements.add(BsonFields.rawDocument(frame, at, next));
      at = next;
    }
    return statements;
  }

  /** Where one statement of it belongs under a table. */
  Target target(RoutingTable table, RawBsonDocument statement) {
    return WriteTargets.of(table, operation, statement);
  }

  /** Where it belongs under a table if it is no list of statements. */
  Target target(RoutingTable table) {
    TargetingOptions options =
        collationAt == 0 && letAt == 0
            ? TargetingOptions.NONE
            : new TargetingOptions(
                collationAt == 0 ? null : document(collationAt),
                letAt == 0 ? null : document(letAt));
    BsonDocument filter = filterAt == 0 ? new BsonDocument() : document(filterAt);
    return switch (operation) {
      case "aggregate" ->
          Targeter.aggregate(
              table, filter.values().stream().map(stage -> stage.asDocument()).toList(), options);
      case "findAndModify", "findandmodify" -> Targeter.findAndModify(table, filter, options);
      default -> Targeter.find(table, filter, options);
    };
  }

  private RawBsonDocument document(int at) {
    return BsonFields.rawDocument(frame, at, BsonFields.endOf(frame, at));
  }
}
