package dev.onehop.jmh.core;

import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.jmh.check.Bar;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.bson.BsonBinaryWriter;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.EncoderContext;
import org.bson.io.BasicOutputBuffer;
import org.bson.types.ObjectId;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The encoding of shard key values as bytes in the server's sort order, compared with the driver's
 * encoding.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class KeyEncodingBenchmark {
  private static final int VALUES = 1 << 10;
  private static final int FIELDS = 10;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();
  private static final EncoderContext CONTEXT = EncoderContext.builder().build();

  private final BsonString[] strings = new BsonString[VALUES];
  private final BsonObjectId[] objectIds = new BsonObjectId[VALUES];
  private final BsonDocument[] keys = new BsonDocument[VALUES];
  private final BsonDocument[] documents = new BsonDocument[VALUES];
  private final ShardKeyPattern compound =
      ShardKeyPattern.of(
          new BsonDocument("field3", new BsonInt32(1)).append("number", new BsonInt32(1)));
  private int next;

  /** Creates the values. */
  @Setup
  public void fill() {
    Random random = new Random(42);
    for (int i = 0; i < VALUES; i++) {
      strings[i] = new BsonString(StringChunks.randomKey(random));
      objectIds[i] = new BsonObjectId(new ObjectId());
      keys[i] = new BsonDocument("_id", strings[i]);
      documents[i] = new BsonDocument("_id", objectIds[i]);
      for (int f = 0; f < FIELDS; f++) {
        documents[i].append("field" + f, new BsonString(StringChunks.randomKey(random)));
      }
      documents[i].append("number", new BsonInt64(random.nextLong()));
    }
  }

  private int next() {
    next = (next + 1) & (VALUES - 1);
    return next;
  }

  /** Encodes a string like YCSB's keys. */
  @Bar(name = "key encoding", baseline = "driverEncodesString", atLeast = 3)
  @Benchmark
  public byte[] string() {
    return SortableKey.encode(strings[next()]);
  }

  /** Encodes an ObjectId. */
  @Benchmark
  public byte[] objectId() {
    return SortableKey.encode(objectIds[next()]);
  }

  /** Encodes the key of a document with twelve fields. Two of the fields are in the key. */
  @Benchmark
  public byte[] compoundKeyOfDocument() {
    return compound.keyOf(documents[next()]);
  }

  /** Encodes the same string in a document with the driver's encoding. */
  @Benchmark
  public byte[] driverEncodesString() {
    BasicOutputBuffer buffer = new BasicOutputBuffer(64);
    try (BsonBinaryWriter writer = new BsonBinaryWriter(buffer)) {
      CODEC.encode(writer, keys[next()], CONTEXT);
    }
    return buffer.toByteArray();
  }
}
