package dev.onehop.wire.message;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/**
 * One OP_MSG: a command with its document sequences, or a reply.
 *
 * <p>Documents stay raw bytes, so a forwarded document is not decoded. Immutable and safe to share
 * between threads. Format: MongoDB's "OP_MSG" specification, source/message/OP_MSG.md.
 *
 * @param requestId the message's id, unique for the sender
 * @param responseTo the id of the request that this message answers; 0 in requests
 * @param flags the OP_MSG flag bits, without {@link #CHECKSUM_PRESENT}
 * @param body the kind 0 section
 * @param sequences the kind 1 sections, in order; empty when there are none
 */
public record OpMsg(
    int requestId, int responseTo, int flags, RawBsonDocument body, List<Sequence> sequences) {

  /** Op code of OP_MSG. */
  public static final int OP_MSG = 2013;

  /** Flag: the last four bytes of the message are a CRC-32C. */
  public static final int CHECKSUM_PRESENT = 1;

  /** Flag: the sender expects no reply (in a request), or sends further replies (in a reply). */
  public static final int MORE_TO_COME = 1 << 1;

  /** Largest message a MongoDB server accepts, in bytes. */
  public static final int MAX_MESSAGE_BYTES = 48_000_000;

  public static final int HEADER_BYTES = 16;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  /**
   * A kind 1 section: a named list of documents, such as the {@code documents} of an insert.
   *
   * @param identifier the name of the command's field that the list replaces
   * @param documents the documents, in order
   */
  public record Sequence(String identifier, List<RawBsonDocument> documents) {}

  public OpMsg {
    sequences = List.copyOf(sequences);
  }

  /** A request with a command; its id is set when it is sent. */
  public static OpMsg command(BsonDocument command) {
    return new OpMsg(0, 0, 0, raw(command), List.of());
  }

  /** A reply to this request. */
  public OpMsg reply(int id, BsonDocument document) {
    return replyTo(requestId, id, document);
  }

  /** A reply with the id {@code id} to the request with the id {@code requestId}. */
  public static OpMsg replyTo(int requestId, int id, BsonDocument document) {
    return new OpMsg(id, requestId, 0, raw(document), List.of());
  }

  /** This message with another id. */
  public OpMsg withRequestId(int id) {
    return new OpMsg(id, responseTo, flags, body, sequences);
  }

  /** This message without flags, so that its sender expects a reply. */
  public OpMsg withoutFlags() {
    return new OpMsg(requestId, responseTo, 0, body, sequences);
  }

  /** This message with other document sequences. */
  public OpMsg withSequences(List<Sequence> replacement) {
    return new OpMsg(requestId, responseTo, flags, body, replacement);
  }

  /** This message with another body. */
  public OpMsg withBody(BsonDocument replacement) {
    return new OpMsg(requestId, responseTo, flags, raw(replacement), sequences);
  }

  /**
   * This message with fields added at the end of its body, which is copied but not decoded. The
   * body must not have these fields.
   */
  public OpMsg withFields(BsonDocument fields) {
    return fields.isEmpty() ? this : withBody(RawDocuments.append(body, raw(fields)));
  }

  /** Whether the sender expects a reply. */
  public boolean expectsReply() {
    return (flags & MORE_TO_COME) == 0;
  }

  /** The name of the command: the first field of the body, or "" if the body is empty. */
  public String commandName() {
    return body.isEmpty() ? "" : body.getFirstKey();
  }

  /** A copy of the body without some of its fields. */
  public BsonDocument bodyWithout(Set<String> names) {
    return BsonCopies.without(body, names);
  }

  /** The command's database, "admin" if it has none. */
  public String database() {
    BsonValue database = body.get("$db");
    return database != null && database.isString() ? database.asString().getValue() : "admin";
  }

  /**
   * The documents of a list in the body or in a sequence.
   *
   * @param name the field, such as {@code documents}
   * @return the documents, empty if the command has no such list
   */
  public List<RawBsonDocument> documents(String name) {
    for (Sequence sequence : sequences) {
      if (sequence.identifier().equals(name)) {
        return sequence.documents();
      }
    }
    if (body.get(name) instanceof BsonArray array) {
      List<RawBsonDocument> documents = new ArrayList<>(array.size());
      for (BsonValue value : array) {
        documents.add(raw(value.asDocument()));
      }
      return documents;
    }
    return List.of();
  }

  /** The id of the request that a message answers. */
  public static int responseTo(ByteBuf message) {
    return message.getIntLE(message.readerIndex() + 8);
  }

  /** Appends the whole message, header included, to {@code out}. */
  public void encode(ByteBuf out) {
    int start = out.writerIndex();
    out.writeIntLE(0)
        .writeIntLE(requestId)
        .writeIntLE(responseTo)
        .writeIntLE(OP_MSG)
        .writeIntLE(flags)
        .writeByte(0);
    RawDocuments.write(body, out);
    for (Sequence sequence : sequences) {
      out.writeByte(1);
      int sizeAt = out.writerIndex();
      out.writeIntLE(0);
      out.writeCharSequence(sequence.identifier(), StandardCharsets.UTF_8);
      out.writeByte(0);
      for (RawBsonDocument document : sequence.documents()) {
        RawDocuments.write(document, out);
      }
      out.setIntLE(sizeAt, out.writerIndex() - sizeAt);
    }
    out.setIntLE(start, out.writerIndex() - start);
  }

  /** Whether a message has the op code of OP_MSG. */
  public static boolean is(ByteBuf frame) {
    return frame.readableBytes() >= HEADER_BYTES
        && frame.getIntLE(frame.readerIndex() + 12) == OP_MSG;
  }

  /**
   * Decodes one whole message.
   *
   * @param frame exactly the bytes of one message, header included
   * @throws WireProtocolException if it is not an OP_MSG, or has wrong lengths
   */
  public static OpMsg decode(ByteBuf frame) {
    if (frame.readableBytes() < HEADER_BYTES + 5) {
      throw new WireProtocolException(
          "message of " + frame.readableBytes() + " bytes is too short");
    }
    frame.skipBytes(4);
    int requestId = frame.readIntLE();
    int responseTo = frame.readIntLE();
    int opCode = frame.readIntLE();
    if (opCode != OP_MSG) {
      throw new WireProtocolException("op code " + opCode + " is not OP_MSG (" + OP_MSG + ")");
    }
    int flags = frame.readIntLE();
    int end = frame.writerIndex() - ((flags & CHECKSUM_PRESENT) != 0 ? 4 : 0);
    RawBsonDocument body = null;
    List<Sequence> sequences = new ArrayList<>(1);
    while (frame.readerIndex() < end) {
      byte kind = frame.readByte();
      if (kind == 0 && body == null) {
        body = RawDocuments.read(frame, end);
      } else if (kind == 1) {
        sequences.add(readSequence(frame, end));
      } else {
        throw new WireProtocolException("unexpected OP_MSG section of kind " + kind);
      }
    }
    if (body == null) {
      throw new WireProtocolException("OP_MSG without a body section");
    }
    return new OpMsg(requestId, responseTo, flags & ~CHECKSUM_PRESENT, body, sequences);
  }

  private static Sequence readSequence(ByteBuf frame, int limit) {
    int start = frame.readerIndex();
    int size = limit - start >= 4 ? frame.readIntLE() : -1;
    int end = start + size;
    if (size < 5 || end > limit) {
      throw new WireProtocolException(
          "document sequence has an invalid length of " + size + " bytes");
    }
    int nul = frame.indexOf(frame.readerIndex(), end, (byte) 0);
    if (nul < 0) {
      throw new WireProtocolException("document sequence without a terminated identifier");
    }
    String identifier =
        frame.toString(frame.readerIndex(), nul - frame.readerIndex(), StandardCharsets.UTF_8);
    frame.readerIndex(nul + 1);
    List<RawBsonDocument> documents = new ArrayList<>();
    while (frame.readerIndex() < end) {
      documents.add(RawDocuments.read(frame, end));
    }
    return new Sequence(identifier, documents);
  }

  private static RawBsonDocument raw(BsonDocument document) {
    return document instanceof RawBsonDocument raw ? raw : new RawBsonDocument(document, CODEC);
  }
}
