package dev.onehop.flink;

import dev.onehop.flink.internal.AssignedSplits;
import dev.onehop.flink.internal.AssignedSplitsSerializer;
import dev.onehop.flink.internal.ShardEnumerator;
import dev.onehop.flink.internal.ShardReader;
import dev.onehop.flink.internal.ShardSplit;
import dev.onehop.flink.internal.ShardSplitSerializer;
import dev.onehop.streams.ShardedChangeStream;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.util.function.SerializableSupplier;

/**
 * A change stream as a source of Apache Flink (FLIP-27), read directly from each shard.
 *
 * <pre>{@code
 * env.fromSource(
 *     ChangeStreamSource.of(
 *         () -> ShardedChangeStream.builder("mongodb://mongos1,mongos2/").collection("shop", "orders").build(),
 *         ChangeDeserializer.json()),
 *     WatermarkStrategy.noWatermarks(),
 *     "orders");
 * }</pre>
 *
 * <p>A split is a shard, or one of several ranges of its documents. While the job runs, the source
 * finds the splits of added shards and assigns them. Flink's checkpoints contain the splits'
 * positions. Each event therefore counts exactly once in the job's state, even after restarts.
 *
 * <p>The source sets timestamps and watermarks, so the job uses {@code
 * WatermarkStrategy.noWatermarks()}. A record's timestamp is the cluster time of its event in
 * milliseconds: the seconds, plus the increment up to 999. A watermark guarantees that all shards,
 * also new ones, have passed the watermark's time. When a document moves to another shard, its
 * later events come from another split. The events of a document are therefore in order only after
 * a {@link TokenOrder}. With several splits, the {@link dev.onehop.streams.event.Order} of the
 * stream has no effect.
 *
 * <p>Immutable and thread-safe.
 *
 * @param <T> the type of records
 */
public final class ChangeStreamSource<T>
    implements Source<T, ShardSplit, AssignedSplits>, ResultTypeQueryable<T> {
  private static final long serialVersionUID = 1L;

  private final SerializableSupplier<ShardedChangeStream> stream;
  private final ChangeDeserializer<T> deserializer;
  private final int splitsPerShard;

  private ChangeStreamSource(
      SerializableSupplier<ShardedChangeStream> stream,
      ChangeDeserializer<T> deserializer,
      int splitsPerShard) {
    this.stream = Objects.requireNonNull(stream, "stream");
    this.deserializer = Objects.requireNonNull(deserializer, "deserializer");
    this.splitsPerShard = splitsPerShard;
  }

  /**
   * Creates a source with one split per shard.
   *
   * @param stream creates the stream; called in the job manager and in each task manager
   * @param deserializer converts the stream's events into records
   */
  public static <T> ChangeStreamSource<T> of(
      SerializableSupplier<ShardedChangeStream> stream, ChangeDeserializer<T> deserializer) {
    return new ChangeStreamSource<>(stream, deserializer, 1);
  }

  /**
   * Returns a source like this one with several splits per shard. Each split is a range of the
   * hashed {@code _id}. The shard reads its whole oplog for each split, and many splits are
   * therefore seldom useful. A job that continues from a savepoint keeps its splits.
   *
   * @param splits the number of splits per shard, 1 or more
   */
  public ChangeStreamSource<T> splitsPerShard(int splits) {
    if (splits < 1) {
      throw new IllegalArgumentException("splitsPerShard must be positive: " + splits);
    }
    return new ChangeStreamSource<>(stream, deserializer, splits);
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  public SplitEnumerator<ShardSplit, AssignedSplits> createEnumerator(
      SplitEnumeratorContext<ShardSplit> context) {
    return new ShardEnumerator(context, stream.get().parts(), splitsPerShard, null);
  }

  @Override
  public SplitEnumerator<ShardSplit, AssignedSplits> restoreEnumerator(
      SplitEnumeratorContext<ShardSplit> context, AssignedSplits state) {
    return new ShardEnumerator(context, stream.get().parts(), splitsPerShard, state);
  }

  @Override
  public SourceReader<T, ShardSplit> createReader(SourceReaderContext context) {
    return new ShardReader<>(context, stream.get().parts(), deserializer);
  }

  @Override
  public SimpleVersionedSerializer<ShardSplit> getSplitSerializer() {
    return new ShardSplitSerializer();
  }

  @Override
  public SimpleVersionedSerializer<AssignedSplits> getEnumeratorCheckpointSerializer() {
    return new AssignedSplitsSerializer();
  }

  @Override
  public TypeInformation<T> getProducedType() {
    return deserializer.producedType();
  }
}
