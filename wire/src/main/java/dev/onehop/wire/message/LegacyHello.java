package dev.onehop.wire.message;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/**
 * The first message of a driver's connection: an {@code isMaster} in the old OP_QUERY format, which
 * every server has to support (MongoDB Handshake specification).
 */
public final class LegacyHello {
  private static final int OP_QUERY = 2004;
  private static final int OP_REPLY = 1;

  private LegacyHello() {}

  /** Whether a message is an OP_QUERY on a {@code $cmd} namespace. */
  public static boolean is(ByteBuf frame) {
    int start = frame.readerIndex();
    if (frame.readableBytes() < OpMsg.HEADER_BYTES + 4 || frame.getIntLE(start + 12) != OP_QUERY) {
      return false;
    }
    int name = start + OpMsg.HEADER_BYTES + 4;
    int nul = frame.indexOf(name, frame.writerIndex(), (byte) 0);
    return nul > name && frame.toString(name, nul - name, StandardCharsets.UTF_8).endsWith(".$cmd");
  }

  /** The command in a message for which {@link #is} returns true. */
  public static RawBsonDocument document(ByteBuf frame) {
    int nul =
        frame.indexOf(frame.readerIndex() + OpMsg.HEADER_BYTES + 4, frame.writerIndex(), (byte) 0);
    int start = nul + 1 + 8; // After numberToSkip and numberToReturn.
    byte[] bytes = new byte[frame.getIntLE(start)];
    frame.getBytes(start, bytes);
    return new RawBsonDocument(bytes);
  }

  /** Writes the OP_REPLY that answers {@code request}. */
  public static void reply(ByteBuf request, int id, BsonDocument hello, ByteBuf out) {
    int start = out.writerIndex();
    out.writeIntLE(0)
        .writeIntLE(id)
        .writeIntLE(request.getIntLE(request.readerIndex() + 4))
        .writeIntLE(OP_REPLY);
    // The four fields are: flags, cursor id, starting from, number returned.
    out.writeIntLE(8).writeLongLE(0).writeIntLE(0).writeIntLE(1);
    RawDocuments.write(new RawBsonDocument(hello, new BsonDocumentCodec()), out);
    out.setIntLE(start, out.writerIndex() - start);
  }
}
