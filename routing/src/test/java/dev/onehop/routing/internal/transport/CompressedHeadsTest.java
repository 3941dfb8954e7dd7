package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.onehop.routing.internal.transport.SharingRules.Use;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.transport.PipeliningSettings;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.xerial.snappy.Snappy;

/** The head of a compressed request of any size is read. */
class CompressedHeadsTest {
  private static final int MEBIBYTE = 1 << 20;

  private final SharingRules rules = new SharingRules(PipeliningSettings.builder().build());

  @ParameterizedTest
  @ValueSource(bytes = {0, 1, 2, 3})
  void anInsertWithoutReplyIsKnownAsOneInEverySize(byte compressor) throws IOException {
    Random random = new Random(1);
    for (int size : sizes(random)) {
      byte[] content = new byte[size];
      random.nextBytes(content);
      // From all zeroes to all random.
      Arrays.fill(content, 0, random.nextInt(size + 1), (byte) 0);
      ByteBuf message = compressed(insert(content), compressor);

      CommandHead head = CommandHead.of(message);

      assertThat(head.areFlagsKnown()).as("%d bytes", size).isTrue();
      assertThat(head.expectsReply()).as("%d bytes", size).isFalse();
      assertThat(head.allowsExhaust()).as("%d bytes", size).isFalse();
      assertThat(head.name()).isEqualTo("insert");
      assertThat(head.bytes()).isGreaterThan(size);
      assertThat(rules.use(head)).isEqualTo(size < 256 * 1024 - 200 ? Use.SHARED : Use.OWN);
      message.release();
    }
  }

  @ParameterizedTest
  @ValueSource(bytes = {0, 1, 2, 3})
  void theCommandIsKnownEvenWhereItsFirstDocumentIsLarge(byte compressor) throws IOException {
    String padding = "x".repeat(3 * MEBIBYTE);
    BsonDocument logout =
        new BsonDocument("logout", new BsonInt32(1)).append("comment", new BsonString(padding));
    OpMsg exhaust =
        new OpMsg(
            1,
            0,
            MessageHeader.EXHAUST_ALLOWED,
            OpMsg.command(
                    new BsonDocument("getMore", new BsonInt32(1))
                        .append("comment", new BsonString(padding)))
                .body(),
            List.of());

    assertThat(rules.use(CommandHead.of(compressed(OpMsg.command(logout), compressor))))
        .isEqualTo(Use.REFUSED);
    assertThat(CommandHead.of(compressed(exhaust, compressor)).allowsExhaust()).isTrue();
  }

  @Test
  void whatIsDamagedIsKnownToBeUnknown() throws IOException {
    for (byte compressor = 1; compressor <= 4; compressor++) {
      ByteBuf message = compressed(insert(new byte[2 * MEBIBYTE]), compressor);
      for (int at = 26; at < 36; at++) {
        message.setByte(at, 0xFF);
      }

      assertThat(CommandHead.of(message).areFlagsKnown()).as("%d", compressor).isFalse();
    }
  }

  private static int[] sizes(Random random) {
    int[] sizes = random.ints(20, 0, 2 * MEBIBYTE).toArray();
    sizes[0] = 0;
    for (int n = 1; n < 12; n++) {
      // Around the sizes at which something changes.
      sizes[n] = (n % 2 == 0 ? MEBIBYTE : 1 << 16) - 64 + random.nextInt(128);
    }
    sizes[12] = 15 * MEBIBYTE;
    return sizes;
  }

  private static OpMsg insert(byte[] content) {
    BsonDocument document = new BsonDocument("b", new BsonBinary(content));
    return new OpMsg(
        1,
        0,
        OpMsg.MORE_TO_COME,
        OpMsg.command(new BsonDocument("insert", new BsonString("c"))).body(),
        List.of(
            new OpMsg.Sequence(
                "documents", List.of(new RawBsonDocument(document, new BsonDocumentCodec())))));
  }

  private static ByteBuf compressed(OpMsg request, byte compressor) throws IOException {
    ByteBuf plain = Unpooled.buffer();
    request.encode(plain);
    byte[] content = new byte[plain.readableBytes() - MessageHeader.BYTES];
    plain.skipBytes(MessageHeader.BYTES).readBytes(content);
    plain.release();
    byte[] small =
        switch (compressor) {
          case 1 -> Snappy.compress(content);
          case 2 -> deflated(content);
          case 3 -> Zstd.compress(content);
          default -> content;
        };
    return Unpooled.buffer()
        .writeIntLE(MessageHeader.BYTES + 9 + small.length)
        .writeIntLE(1)
        .writeIntLE(0)
        .writeIntLE(MessageHeader.OP_COMPRESSED)
        .writeIntLE(MessageHeader.OP_MSG)
        .writeIntLE(content.length)
        .writeByte(compressor)
        .writeBytes(small);
  }

  private static byte[] deflated(byte[] content) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DeflaterOutputStream deflater = new DeflaterOutputStream(bytes)) {
      deflater.write(content);
    }
    return bytes.toByteArray();
  }
}
