package dev.onehop.jmh.core;

import dev.onehop.core.bson.HashedKey;
import dev.onehop.jmh.check.Bar;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.bson.BsonObjectId;
import org.bson.BsonString;
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
 * The server's hash of a value, for hashed shard keys, compared with the MD5 computation that is a
 * part of it.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class HashingBenchmark {
  private static final int VALUES = 1 << 10;

  private final BsonString[] strings = new BsonString[VALUES];
  private final BsonObjectId[] objectIds = new BsonObjectId[VALUES];
  private final byte[][] bytes = new byte[VALUES][];
  private int next;

  /** Creates the values. */
  @Setup
  public void fill() {
    Random random = new Random(42);
    for (int i = 0; i < VALUES; i++) {
      strings[i] = new BsonString(StringChunks.randomKey(random));
      objectIds[i] = new BsonObjectId(new ObjectId());
      bytes[i] = strings[i].getValue().getBytes(StandardCharsets.UTF_8);
    }
  }

  private int next() {
    next = (next + 1) & (VALUES - 1);
    return next;
  }

  /** Hashes a string like YCSB's keys. */
  @Bar(name = "hashing", baseline = "md5", atLeast = 0.15)
  @Benchmark
  public long string() {
    return HashedKey.hash(strings[next()]);
  }

  /** Hashes an ObjectId. */
  @Benchmark
  public long objectId() {
    return HashedKey.hash(objectIds[next()]);
  }

  /** Computes only the MD5 of the string's bytes. */
  @Benchmark
  @SuppressWarnings("WeakMessageDigestAlgorithm") // the server's hash uses MD5
  public byte[] md5() throws NoSuchAlgorithmException {
    return MessageDigest.getInstance("MD5").digest(bytes[next()]);
  }
}
