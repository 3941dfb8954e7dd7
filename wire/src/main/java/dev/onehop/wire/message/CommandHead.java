package dev.onehop.wire.message;

import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.bson.BsonType;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a command that routing and sharing need, found in one pass over the top level of
 * the message. Nested values are read on demand, and documents are then copied. The object must not
 * be used after the message is released.
 */
public class CommandHead {
  /** The index of an OP_MSG's flags. */
  public static final int FLAGS_AT = 16;

  /** The index of the body in an OP_MSG whose first section is the body, as drivers send it. */
  public static final int BODY_AT = 21;

  /** Flag of OP_MSG: the sender accepts several replies. */
  public static final int EXHAUST_ALLOWED = 1 << 16;

  private static final int UNDERSTOOD = OpMsg.MORE_TO_COME | EXHAUST_ALLOWED;
  private static final int MAX_STATEMENTS_LOOKED_AT = 100;
  private static final Set<String> WRITES = Set.of("insert", "update", "delete");

  private final ByteBuf frame;
  private final int flags;
  private final int bytes;
  private String name = "";
  private String operation = "";
  private String collection = "";
  private String database = "admin";
  private @Nullable String namespace;
  private String firstStage = "";
  private int bodyEnd;
  private int cursorIdAt;
  private int filterAt;
  private int collationAt;
  private int letAt;
  private int listAt;
  private int listEnd;
  private boolean listInBody;
  private boolean otherSequence;
  private int sessionAt;
  private int readPreferenceAt;
  private int readConcernAt;
  private int writeConcernAt;
  private boolean numbered;
  private long number;
  private boolean transaction;
  private boolean starts;
  private boolean recoverable;
  private boolean strict;
  private boolean ordered = true;
  private boolean tailable;
  private boolean lasting;
  private boolean singleBatch;
  private boolean versioned;
  private long limit;
  private long maxTimeMillis;

  /**
   * Creates a head, without reading its fields.
   *
   * @param frame the OP_MSG
   */
  protected CommandHead(ByteBuf frame) {
    this.frame = frame;
    this.flags = frame.getIntLE(frame.readerIndex() + FLAGS_AT);
    this.bytes = frame.readableBytes();
  }

  /**
   * Parses a message.
   *
   * @return null if it is not an OP_MSG, or has flags or an order of sections that drivers do not
   *     send
   * @throws MalformedDocumentException if it is invalid BSON
   * @throws IndexOutOfBoundsException if it is invalid BSON
   */
  public static @Nullable CommandHead read(ByteBuf frame) {
    return read(frame, CommandHead::new);
  }

  /** Parses a message into a subclass. */
  protected static <H extends CommandHead> @Nullable H read(
      ByteBuf frame, Function<ByteBuf, H> kind) {
    int start = frame.readerIndex();
    int end = frame.writerIndex();
    if (end - start < BODY_AT + 5
        || frame.getIntLE(start + 12) != OpMsg.OP_MSG
        || (frame.getIntLE(start + FLAGS_AT) & ~UNDERSTOOD) != 0
        || frame.getByte(start + BODY_AT - 1) != 0) {
      return null;
    }
    H head = kind.apply(frame);
    return ((CommandHead) head).readSections(start + BODY_AT, end) ? head : null;
  }

  private boolean readSections(int start, int end) {
    readBody(new BsonFields(frame, start, end));
    bodyEnd = BsonFields.endOf(frame, start);
    for (int at = bodyEnd; at < end; ) {
      if (frame.getByte(at) != 1) {
        return false;
      }
      at = readSequence(at + 1, end);
    }
    return true;
  }

  private void readBody(BsonFields fields) {
    if (!fields.next()) {
      throw new MalformedDocumentException("the command has no name");
    }
    name = fields.name();
    operation = name;
    collection = fields.string();
    if (name.equals("getMore")) {
      cursorIdAt = fields.type() == BsonType.INT64 ? fields.valueOffset() : 0;
      collection = "";
    } else if (name.equals("explain") && fields.isDocument()) {
      readExplained(fields.document());
    }
    readFields(fields);
  }

  /** Reads the explained command, because an explain has the same target as this command. */
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
        case "readConcern" -> readConcernAt = documentAt(fields);
        case "writeConcern" -> writeConcernAt = documentAt(fields);
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
        case "limit" -> limit = fields.number();
        case "singleBatch" -> singleBatch = fields.isTrue();
        case "tailable", "awaitData" -> tailable |= fields.isTrue();
        case "noCursorTimeout" -> lasting = fields.isTrue();
        case "stmtIds", "shardVersion", "databaseVersion" -> versioned = true;
        case "documents", "updates", "deletes" -> {
          if (write && fields.isDocument()) {
            listAt = fields.valueOffset();
            listInBody = true;
          }
        }
        default -> {}
      }
    }
  }

  private static int documentAt(BsonFields field) {
    return field.isDocument() ? field.valueOffset() : 0;
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

  /** Reads a section; returns the index of the next one. */
  private int readSequence(int at, int end) {
    int next = at + frame.getIntLE(at);
    int nul = frame.indexOf(at + 4, end, (byte) 0);
    if (nul < 0 || next <= nul || next > end) {
      throw new MalformedDocumentException("a section reaches beyond its message");
    }
    String identifier = frame.toString(at + 4, nul - at - 4, StandardCharsets.US_ASCII);
    if (WRITES.contains(name) && identifier.equals(listName(name))) {
      listAt = nul + 1;
      listEnd = next;
      listInBody = false;
    } else {
      otherSequence = true;
    }
    return next;
  }

  private static String listName(String write) {
    return write.equals("insert") ? "documents" : write + "s";
  }

  /** The command's name in the client's spelling. */
  public final String name() {
    return name;
  }

  /** The command's name; for an explain, the name of the explained command. */
  public final String operation() {
    return operation;
  }

  /** Database and collection. */
  public final String namespace() {
    String known = namespace;
    if (known == null) {
      known = database + "." + collection;
      namespace = known;
    }
    return known;
  }

  /** The value of the first field, "" if it is not a string. */
  public final String collection() {
    return collection;
  }

  public final String database() {
    return database;
  }

  /** The name of an aggregation's first stage, "" if there is none. */
  public final String firstStage() {
    return firstStage;
  }

  /** The size of the message. */
  public final int bytes() {
    return bytes;
  }

  /** The size of the message up to the end of its body. */
  public final int bodyBytes() {
    return bodyEnd - frame.readerIndex();
  }

  /** The message. */
  protected final ByteBuf frame() {
    return frame;
  }

  public final int flags() {
    return flags;
  }

  /** Whether the sender expects a reply. */
  public final boolean expectsReply() {
    return (flags & OpMsg.MORE_TO_COME) == 0;
  }

  /** Whether the sender accepts several replies. */
  public final boolean allowsExhaust() {
    return (flags & EXHAUST_ALLOWED) != 0;
  }

  /** The index of a getMore's cursor id, an int64; 0 for other commands. */
  public final int cursorIdAt() {
    return cursorIdAt;
  }

  public final boolean isInTransaction() {
    return transaction;
  }

  public final boolean startsTransaction() {
    return transaction && starts;
  }

  /** Whether the command has a recovery token. */
  public final boolean isRecoverable() {
    return recoverable;
  }

  /** Whether the command has a {@code txnNumber}. */
  public final boolean isNumbered() {
    return numbered;
  }

  /** The {@code txnNumber}, 0 if there is none. */
  public final long number() {
    return number;
  }

  /** Whether only the stable API is allowed. */
  public final boolean isStrict() {
    return strict;
  }

  public final boolean isOrdered() {
    return ordered;
  }

  /** {@code maxTimeMS}, 0 if there is none. */
  public final long maxTimeMillis() {
    return maxTimeMillis;
  }

  /** Whether the command has statement ids, or the version of a routing table. */
  public final boolean isVersioned() {
    return versioned;
  }

  /** Whether the cursor is tailable. */
  public final boolean isTailable() {
    return tailable;
  }

  /** Whether the command has a collation or variables. */
  public final boolean hasCollationOrVariables() {
    return collationAt != 0 || letAt != 0;
  }

  /** The filter, query or pipeline; null if there is none. */
  public final @Nullable RawBsonDocument filter() {
    return documentOrNull(filterAt);
  }

  public final @Nullable RawBsonDocument collation() {
    return documentOrNull(collationAt);
  }

  /** The variables of {@code let}. */
  public final @Nullable RawBsonDocument variables() {
    return documentOrNull(letAt);
  }

  /** The session, {@code lsid}. */
  public final @Nullable RawBsonDocument session() {
    return documentOrNull(sessionAt);
  }

  public final @Nullable RawBsonDocument readPreference() {
    return documentOrNull(readPreferenceAt);
  }

  private @Nullable RawBsonDocument documentOrNull(int at) {
    return at == 0 ? null : BsonFields.rawDocument(frame, at, BsonFields.endOf(frame, at));
  }

  /** The elements of the read concern; null if there is none. */
  public final @Nullable BsonFields readConcern() {
    return fieldsOrNull(readConcernAt);
  }

  /** The elements of the write concern; null if there is none. */
  public final @Nullable BsonFields writeConcern() {
    return fieldsOrNull(writeConcernAt);
  }

  /** The elements of the read preference; null if there is none. */
  public final @Nullable BsonFields readPreferenceFields() {
    return fieldsOrNull(readPreferenceAt);
  }

  private @Nullable BsonFields fieldsOrNull(int at) {
    return at == 0 ? null : new BsonFields(frame, at, frame.writerIndex());
  }

  /** Whether this is an insert, update or delete with statements. */
  public final boolean isWriteList() {
    return listAt != 0;
  }

  /**
   * The statement of a write, if it is the only statement and its section is the only section after
   * the body; otherwise null.
   */
  public final @Nullable BsonFields onlyStatement() {
    return listAt != 0
            && !listInBody
            && !otherSequence
            && listEnd == frame.writerIndex()
            && BsonFields.endOf(frame, listAt) == listEnd
        ? new BsonFields(frame, listAt, listEnd)
        : null;
  }

  /** A copy of {@link #onlyStatement}. */
  public final RawBsonDocument onlyDocument() {
    return BsonFields.rawDocument(frame, listAt, listEnd);
  }

  /** Whether there are sections after the body. */
  public final boolean hasSequences() {
    return bodyEnd < frame.writerIndex();
  }

  /** The statements of an insert, update or delete. */
  public final List<RawBsonDocument> statements() {
    List<RawBsonDocument> statements = new ArrayList<>();
    if (listInBody) {
      BsonFields elements = new BsonFields(frame, listAt, frame.writerIndex());
      while (elements.next()) {
        statements.add(elements.rawDocument());
      }
      return statements;
    }
    for (int at = listAt; at < listEnd; ) {
      int next = nextDocument(at);
      statements.add(BsonFields.rawDocument(frame, at, next));
      at = next;
    }
    return statements;
  }

  private int nextDocument(int at) {
    int next = BsonFields.endOf(frame, at);
    if (next <= at || next > listEnd) {
      throw new MalformedDocumentException("a document reaches beyond its section");
    }
    return next;
  }

  /** Whether a find has a limit, or requests a single batch. */
  public final boolean hasLimit() {
    return limit != 0 || singleBatch;
  }

  /** Whether the cursor has no idle timeout. */
  public final boolean isLasting() {
    return lasting;
  }

  /** Whether there is a query that is not empty. */
  public final boolean hasQuery() {
    return filterAt != 0 && frame.getIntLE(filterAt) > 5;
  }

  /** Whether the filter has a value for {@code _id}, so that at most one document matches. */
  public final boolean isById() {
    BsonFields fields = fieldsOrNull(filterAt);
    return fields != null
        && fields.find("_id")
        && !fields.isOperatorDocument()
        && fields.type() != BsonType.REGULAR_EXPRESSION;
  }

  /** Whether a statement may change many documents, or there are too many statements to check. */
  public final boolean touchesMany() {
    if (listAt == 0) {
      return false;
    }
    int n = 0;
    if (listInBody) {
      BsonFields elements = new BsonFields(frame, listAt, frame.writerIndex());
      while (elements.next()) {
        if (++n > MAX_STATEMENTS_LOOKED_AT
            || (elements.isDocument() && touchesMany(elements.document()))) {
          return true;
        }
      }
      return false;
    }
    for (int at = listAt; at < listEnd; at = nextDocument(at)) {
      if (++n > MAX_STATEMENTS_LOOKED_AT || touchesMany(new BsonFields(frame, at, listEnd))) {
        return true;
      }
    }
    return false;
  }

  private static boolean touchesMany(BsonFields statement) {
    boolean many = false;
    while (statement.next()) {
      switch (statement.name()) {
        case "multi" -> many |= statement.isTrue();
        case "limit" -> many |= statement.number() == 0;
        default -> {}
      }
    }
    return many;
  }

  /**
   * Whether a write waits for more than one member or for a tag, or a read waits for confirmation
   * by a majority.
   */
  public final boolean waitsForMembers() {
    BsonFields write = writeConcern();
    BsonFields read = readConcern();
    return (write != null
            && write.find("w")
            && (write.isNumber() ? write.number() > 1 : !write.string().equals("majority")))
        || (read != null && read.find("level") && read.string().equals("linearizable"));
  }

  /** Whether a read waits until the server has reached a time. */
  public final boolean waitsForTime() {
    BsonFields fields = readConcern();
    while (fields != null && fields.next()) {
      String field = fields.name();
      if (field.equals("afterClusterTime") || field.equals("atClusterTime")) {
        return true;
      }
    }
    return false;
  }

  @Override
  public String toString() {
    return name;
  }
}
