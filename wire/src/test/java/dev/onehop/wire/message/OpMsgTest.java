package dev.onehop.wire.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Random;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

class OpMsgTest {
  private static final RawBsonDocument BODY =
      RawBsonDocument.parse("{insert: 'c', $db: 'd', ordered: true}");
  private static final OpMsg INSERT =
      new OpMsg(
          7,
          0,
          0,
          BODY,
          List.of(
              new OpMsg.Sequence(
                  "documents",
                  List.of(
                      RawBsonDocument.parse("{_id: 1}"),
                      RawBsonDocument.parse("{_id: 2, a: 'x'}")))));

  @Test
  void decodesEncodedMessage() {
    OpMsg decoded = OpMsg.decode(encoded(INSERT));

    assertThat(decoded).isEqualTo(INSERT);
    assertThat(decoded.commandName()).isEqualTo("insert");
    assertThat(decoded.database()).isEqualTo("d");
    assertThat(decoded.documents("documents")).hasSize(2);
  }

  @Test
  void findsDocumentsInBody() {
    OpMsg inBody =
        OpMsg.command(BsonDocument.parse("{insert: 'c', documents: [{_id: 1}, {_id: 2}]}"));

    assertThat(OpMsg.decode(encoded(inBody)).documents("documents"))
        .extracting(document -> document.getInt32("_id").getValue())
        .containsExactly(1, 2);
    assertThat(inBody.documents("updates")).isEmpty();
  }

  @Test
  void appendsFieldsToBody() {
    BsonDocument added = INSERT.withFields(new BsonDocument("x", new BsonInt32(1))).body();

    assertThat(added).isEqualTo(BsonDocument.parse("{insert: 'c', $db: 'd', ordered: true, x: 1}"));
    assertThat(added.keySet()).containsExactly("insert", "$db", "ordered", "x");
    assertThat(INSERT.withFields(new BsonDocument())).isSameAs(INSERT);
  }

  @Test
  void ignoresChecksum() {
    ByteBuf frame = encoded(INSERT);
    frame.setIntLE(16, OpMsg.CHECKSUM_PRESENT).writeIntLE(0x12345678);
    frame.setIntLE(0, frame.readableBytes());

    assertThat(OpMsg.decode(frame)).isEqualTo(INSERT);
  }

  @Test
  void detectsRequestWithoutReply() {
    OpMsg silent = new OpMsg(1, 0, OpMsg.MORE_TO_COME, BODY, List.of());

    assertThat(OpMsg.decode(encoded(silent)).expectsReply()).isFalse();
    assertThat(INSERT.expectsReply()).isTrue();
  }

  @Test
  void rejectsOtherOpCodes() {
    ByteBuf frame = encoded(INSERT);
    frame.setIntLE(12, 2004);

    assertThatThrownBy(() -> OpMsg.decode(frame))
        .isInstanceOf(WireProtocolException.class)
        .hasMessageContaining("2004");
  }

  @Test
  void rejectsMessageWithoutBody() {
    ByteBuf frame = Unpooled.buffer();
    frame.writeIntLE(0).writeIntLE(1).writeIntLE(0).writeIntLE(OpMsg.OP_MSG).writeIntLE(0);
    frame.writeByte(1).writeIntLE(6).writeByte('d').writeByte(0);
    frame.setIntLE(0, frame.readableBytes());

    assertThatThrownBy(() -> OpMsg.decode(frame))
        .isInstanceOf(WireProtocolException.class)
        .hasMessageContaining("body");
  }

  @Test
  void damagedFramesThrowOnlyProtocolException() {
    Random random = new Random(42);
    for (int round = 0; round < 20_000; round++) {
      ByteBuf frame = encoded(INSERT);
      for (int hit = random.nextInt(4) + 1; hit > 0; hit--) {
        frame.setByte(random.nextInt(frame.writerIndex()), random.nextInt());
      }
      frame.writerIndex(frame.writerIndex() - random.nextInt(8));
      try {
        // Decoding checks only the framing. The content of a document is read when it is needed.
        assertThat(OpMsg.decode(frame).sequences()).isNotNull();
      } catch (WireProtocolException expected) {
        assertThat(expected).hasMessageMatching(".+");
      }
    }
  }

  @Test
  void replyHasIdOfRequest() {
    OpMsg reply = INSERT.reply(99, new BsonDocument("s", new BsonString("x")));

    assertThat(reply.requestId()).isEqualTo(99);
    assertThat(reply.responseTo()).isEqualTo(7);
  }

  private static ByteBuf encoded(OpMsg message) {
    ByteBuf out = Unpooled.buffer();
    message.encode(out);
    assertThat(out.getIntLE(0)).isEqualTo(out.readableBytes());
    return out;
  }
}
