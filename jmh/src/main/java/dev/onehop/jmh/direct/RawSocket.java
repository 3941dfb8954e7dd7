package dev.onehop.jmh.direct;

import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;

/**
 * The smallest possible client: one socket to a server, and pre-encoded messages. The messages
 * contain the fields of the driver's messages that cause work on the server, above all a session
 * and a transaction number. The client checks only the length of a reply, and whether the reply is
 * an error.
 */
final class RawSocket implements AutoCloseable {
  private static final int REPLY_BYTES_AT_LEAST = 30;

  private final Socket socket;
  private final OutputStream out;
  private final DataInputStream in;
  private final List<byte[]> messages = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom();
  private final boolean retryable;
  private final int transactionNumberAt;
  private byte[] reply = new byte[64 * 1024];
  private long transactionNumber;

  /** Connects without a handshake, which servers do not require. */
  RawSocket(String host, int port, String operation, int records) throws IOException {
    socket = new Socket(host, port);
    socket.setTcpNoDelay(true);
    out = socket.getOutputStream();
    in = new DataInputStream(socket.getInputStream());
    retryable = operation.equals("update");
    BsonDocument session = new BsonDocument("id", new BsonBinary(UUID.randomUUID()));
    for (int i = 0; i < records; i++) {
      messages.add(encode(command(operation, i, session)));
    }
    // The transaction number has the same position in all messages: the messages differ only in the
    // key, which comes after it.
    transactionNumberAt = retryable ? indexOf(messages.get(0), "txnNumber") + 10 : -1;
  }

  private static BsonDocument command(String operation, int record, BsonDocument session) {
    BsonDocument byId = new BsonDocument("_id", new BsonString(Records.key(record)));
    BsonDocument command = new BsonDocument(operation, new BsonString(Records.COLLECTION));
    command.append("$db", new BsonString(Records.DATABASE)).append("lsid", session);
    return switch (operation) {
      case "find" -> command.append("filter", byId).append("limit", new BsonInt32(1));
      case "update" ->
          command
              .append("txnNumber", new BsonInt64(0))
              .append("writeConcern", new BsonDocument("w", new BsonInt32(1)))
              .append(
                  "updates",
                  new BsonArray(
                      List.of(new BsonDocument("q", byId).append("u", Records.change(record)))));
      default -> throw new IllegalArgumentException("unknown operation \"" + operation + "\"");
    };
  }

  private static byte[] encode(BsonDocument command) {
    ByteBuf buffer = Unpooled.buffer();
    OpMsg.command(command).encode(buffer);
    byte[] bytes = new byte[buffer.readableBytes()];
    buffer.readBytes(bytes);
    return bytes;
  }

  private static int indexOf(byte[] message, String name) {
    return new String(message, StandardCharsets.ISO_8859_1).indexOf(name + "\0");
  }

  /** Sends one message, reads its reply and returns the reply's length. */
  int exchange() {
    byte[] message = messages.get(random.nextInt(messages.size()));
    if (retryable) {
      ByteBuffer.wrap(message)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putLong(transactionNumberAt, ++transactionNumber);
    }
    try {
      out.write(message);
      int length = Integer.reverseBytes(in.readInt());
      if (length < REPLY_BYTES_AT_LEAST) {
        throw new IOException(
            "the server sent a reply of " + length + " bytes, which is too short");
      }
      if (reply.length < length) {
        reply = new byte[length];
      }
      in.readFully(reply, 4, length - 4);
      if (new String(reply, 0, length, StandardCharsets.ISO_8859_1).contains("errmsg")) {
        throw new IOException(
            "the server returned an error: "
                + new String(reply, 0, length, StandardCharsets.UTF_8));
      }
      return length;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
