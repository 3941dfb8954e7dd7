package dev.onehop.jmh.transport;

import dev.onehop.jmh.check.Bar;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonBinaryReader;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.DecoderContext;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** The cost of reading and writing one OP_MSG, for several sizes of its document. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class WireCodecBenchmark {
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private static final int FIELDS = 10;

  /** The number of bytes of text in all ten fields of the document together. */
  @Param({"100", "1000", "100000"})
  int padding;

  private ByteBuffer body = ByteBuffer.allocate(0);
  private OpMsg message = OpMsg.command(new BsonDocument());
  private ByteBuf encoded = PooledByteBufAllocator.DEFAULT.buffer();
  private ByteBuf target = PooledByteBufAllocator.DEFAULT.buffer();

  @Setup
  public void fill() {
    BsonDocument document = new BsonDocument("_id", new BsonString("user1"));
    for (int i = 0; i < FIELDS; i++) {
      document.append("field" + i, new BsonString("x".repeat(padding / FIELDS)));
    }
    message =
        OpMsg.command(
            new BsonDocument("insert", new BsonString("c"))
                .append("ordered", new BsonInt32(1))
                .append("documents", new BsonArray(List.of(document)))
                .append("$db", new BsonString("d")));
    body = message.body().getByteBuffer().asNIO();
    message.encode(encoded);
  }

  @TearDown
  public void release() {
    encoded.release();
    target.release();
  }

  @Bar(
      name = "wire codec",
      baseline = "driverDecodesDocument",
      parameters = "padding=1000",
      atLeast = 2)
  @Benchmark
  public OpMsg decode() {
    return OpMsg.decode(encoded.duplicate());
  }

  /** Decodes the whole document of a message, as the driver does. */
  @Benchmark
  public BsonDocument driverDecodesDocument() {
    ByteBuffer document = body.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    try (BsonBinaryReader reader = new BsonBinaryReader(document)) {
      return CODEC.decode(reader, DecoderContext.builder().build());
    }
  }

  @Benchmark
  public ByteBuf encode() {
    target.clear();
    message.encode(target);
    return target;
  }
}
