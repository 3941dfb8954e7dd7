package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.BsonFields;
import dev.onehop.routing.internal.wire.BsonFields.MalformedDocumentException;
import dev.onehop.routing.internal.wire.CompressedMessages;
import dev.onehop.routing.internal.wire.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * What the rules want to know of a request: the command's name and the options that tell how long
 * it may take.
 *
 * <p>One pass over the top level of the command; filters and documents are stepped over.
 */
final class CommandHead {
  private static final int MAX_STATEMENTS_LOOKED_AT = 100;

  private final int bytes;
  private final int flags;
  private String name = "";
  private long maxTimeMillis;
  private long limit;
  private boolean singleBatch;
  private boolean tailable;
  private boolean byId;
  private boolean query;
  private boolean many;
  private boolean helloOk;
  private boolean awaits;
  private boolean transaction;
  private boolean waitsForMembers;
  private boolean linearizable;
  private boolean waitsForTime;
  private String mechanism = "";
  private boolean readable = true;
  private boolean flagsKnown = true;

  private CommandHead(int bytes, int flags) {
    this.bytes = bytes;
    this.flags = flags;
  }

  /** Reads a whole request, plain or compressed. Never throws: see {@link #isReadable()}. */
  static CommandHead of(ByteBuf request) {
    // Each access to a composite buffer looks for the part; the driver's usually has but one.
    ByteBuf message =
        request instanceof CompositeByteBuf parts && parts.numComponents() == 1
            ? parts.internalComponent(0)
            : request;
    if (MessageHeader.opCode(message) != MessageHeader.OP_COMPRESSED) {
      return read(message, message.readableBytes());
    }
    ByteBuf plain = CompressedMessages.expand(message);
    if (plain == null) {
      CommandHead head = new CommandHead(message.readableBytes(), 0);
      head.readable = false;
      head.flagsKnown = false;
      return head;
    }
    try {
      // Of a large message, only the beginning may be there.
      return read(plain, MessageHeader.length(plain));
    } finally {
      plain.release();
    }
  }

  private static CommandHead read(ByteBuf message, int bytes) {
    CommandHead head = new CommandHead(bytes, MessageHeader.flags(message));
    try {
      head.readMessage(message);
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      head.readable = false;
    }
    return head;
  }

  private void readMessage(ByteBuf message) {
    int at = message.readerIndex() + MessageHeader.BYTES;
    int end = message.writerIndex();
    if (MessageHeader.opCode(message) == MessageHeader.OP_QUERY) {
      int nul = message.indexOf(at + 4, end, (byte) 0);
      readBody(message, nul + 9, end);
      return;
    }
    at += 4;
    end -= (flags & OpMsg.CHECKSUM_PRESENT) != 0 ? 4 : 0;
    while (at < end) {
      int next = BsonFields.endOf(message, at + 1);
      boolean body = message.getByte(at) == 0;
      if (body) {
        readBody(message, at + 1, end);
      }
      if (next <= at + 5 || next > end) {
        throw new MalformedDocumentException("a section reaches beyond its message");
      }
      if (!body) {
        readSequence(message, at + 5, next);
      }
      at = next;
    }
  }

  private void readBody(ByteBuf message, int start, int end) {
    // Length, type, name: there even where the rest of the document is not.
    int nameAt = start + 5;
    int nul = message.indexOf(nameAt, end, (byte) 0);
    if (nul > nameAt && message.getByte(nameAt - 1) != 0) {
      name = message.toString(nameAt, nul - nameAt, StandardCharsets.UTF_8);
    }
    BsonFields fields = new BsonFields(message, start, end);
    while (fields.next()) {
      switch (fields.name()) {
        case "maxTimeMS" -> maxTimeMillis = fields.number();
        case "limit" -> limit = fields.number();
        case "singleBatch" -> singleBatch = fields.isTrue();
        case "tailable", "awaitData", "noCursorTimeout" -> tailable |= fields.isTrue();
        case "filter" -> byId = isById(fields);
        case "query" -> query = fields.isDocument() && !fields.isEmptyDocument();
        case "updates", "deletes" -> readStatements(fields);
        case "helloOk" -> helloOk = fields.isTrue();
        case "topologyVersion", "maxAwaitTimeMS" -> awaits = true;
        case "mechanism" -> mechanism = fields.string();
        case "autocommit" -> transaction = true;
        case "writeConcern" -> waitsForMembers = waitsForMembers(fields);
        case "readConcern" -> readReadConcern(fields);
        default -> {}
      }
    }
  }

  /** Whether as many members are wanted as need not be there: not one, and not the majority. */
  private static boolean waitsForMembers(BsonFields writeConcern) {
    if (!writeConcern.isDocument()) {
      return false;
    }
    BsonFields fields = writeConcern.document();
    return fields.find("w")
        && (fields.isNumber() ? fields.number() > 1 : !fields.string().equals("majority"));
  }

  private void readReadConcern(BsonFields readConcern) {
    if (!readConcern.isDocument()) {
      return;
    }
    BsonFields fields = readConcern.document();
    while (fields.next()) {
      switch (fields.name()) {
        case "level" -> linearizable = fields.string().equals("linearizable");
        case "afterClusterTime", "atClusterTime" -> waitsForTime = true;
        default -> {}
      }
    }
  }

  /** Whether the filter names the {@code _id} by value, so that one document at most matches. */
  private static boolean isById(BsonFields filter) {
    if (!filter.isDocument()) {
      return false;
    }
    BsonFields fields = filter.document();
    while (fields.next()) {
      if (fields.name().equals("_id")) {
        return !fields.isOperatorDocument() && !fields.isRegularExpression();
      }
    }
    return false;
  }

  private void readStatements(BsonFields array) {
    if (!array.isDocument()) {
      return;
    }
    BsonFields statements = array.document();
    for (int n = 0; statements.next(); n++) {
      if (n >= MAX_STATEMENTS_LOOKED_AT) {
        many = true;
        return;
      }
      if (statements.isDocument()) {
        readStatement(statements.document());
      }
    }
  }

  private void readSequence(ByteBuf message, int identifierAt, int end) {
    int nul = message.indexOf(identifierAt, end, (byte) 0);
    if (nul < 0) {
      throw new MalformedDocumentException("a document sequence without a name");
    }
    String identifier =
        message.toString(identifierAt, nul - identifierAt, StandardCharsets.US_ASCII);
    // Documents to insert have no options.
    if (!identifier.equals("updates") && !identifier.equals("deletes")) {
      return;
    }
    int at = nul + 1;
    for (int n = 0; at < end; n++) {
      if (n >= MAX_STATEMENTS_LOOKED_AT) {
        many = true;
        return;
      }
      readStatement(new BsonFields(message, at, end));
      at = BsonFields.endOf(message, at);
    }
  }

  private void readStatement(BsonFields statement) {
    while (statement.next()) {
      switch (statement.name()) {
        case "multi" -> many |= statement.isTrue();
        case "limit" -> many |= statement.number() == 0;
        default -> {}
      }
    }
  }

  /** False if the message could not be understood, such as one of an unknown compressor. */
  boolean isReadable() {
    return readable;
  }

  /** False if not even {@link #expectsReply()} and {@link #allowsExhaust()} are known. */
  boolean areFlagsKnown() {
    return flagsKnown;
  }

  /** The command's name as the client wrote it, "" if there is none. */
  String name() {
    return name;
  }

  /** The size of the uncompressed message. */
  int bytes() {
    return bytes;
  }

  /** Whether an answer will come. */
  boolean expectsReply() {
    return (flags & OpMsg.MORE_TO_COME) == 0;
  }

  /** Whether a stream of answers may come. */
  boolean allowsExhaust() {
    return (flags & MessageHeader.EXHAUST_ALLOWED) != 0;
  }

  /** {@code maxTimeMS}, 0 if there is none. */
  long maxTimeMillis() {
    return maxTimeMillis;
  }

  /** {@code limit}, negative for a single batch, 0 if there is none. */
  long limit() {
    return limit;
  }

  boolean isSingleBatch() {
    return singleBatch;
  }

  /** Whether the cursor waits for more data or is meant to stay. */
  boolean isTailable() {
    return tailable;
  }

  /** Whether the filter gives the value of {@code _id}. */
  boolean isById() {
    return byId;
  }

  /** Whether there is a query that is not empty. */
  boolean hasQuery() {
    return query;
  }

  /** Whether a statement may touch many documents, or there are too many statements to look at. */
  boolean touchesMany() {
    return many;
  }

  /** Whether it is part of a transaction. */
  boolean isInTransaction() {
    return transaction;
  }

  /** Whether it waits for members by number or by tag, or for a majority to confirm a read. */
  boolean waitsForMembers() {
    return waitsForMembers || linearizable;
  }

  /** Whether a read waits until the server has come to a time. */
  boolean waitsForTime() {
    return waitsForTime;
  }

  /** Whether a hello waits for a change of the topology. */
  boolean awaitsTopologyChange() {
    return awaits;
  }

  /** Whether a hello says {@code helloOk}, which a driver does and an application does not. */
  boolean isDriversHello() {
    return helloOk;
  }

  /** The mechanism of an authentication's first step, "" elsewhere. */
  String mechanism() {
    return mechanism;
  }

  @Override
  public String toString() {
    return name;
  }
}
