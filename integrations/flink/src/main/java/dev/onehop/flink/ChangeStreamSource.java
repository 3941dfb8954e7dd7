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
 * A change stream as a source of Apache Flink (FLIP-27), read from each shard itself.
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
 * <p>A split is a shard, or one of several ranges of its documents. Splits are found and assigned
 * while the job runs, as shards come and go. Their places are in Flink's checkpoints, so each event
 * counts exactly once in the job's state, also after restarts.
 *
 * <p>The source sets timestamps and watermarks: a record's timestamp is its cluster time in
 * milliseconds (the seconds, and the increment up to 999), and a watermark says that all shards are
 * past it, those that are new, too. The {@code WatermarkStrategy} of the job has nothing to add. A
 * document that moves to another shard comes from another split from then on, so the events of a
 * document are in order only after a {@link TokenOrder}. With several splits a stream's {@link
 * dev.onehop.streams.event.Order} has no effect.
 *
 * <p>Immutable and thread-safe.
 *
 * @param <T> the records
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
   * A source with one split for each shard.
   *
   * @param stream makes the stream, in the job manager and in each task manager
   * @param deserializer makes records of its events
   */
  public static <T> ChangeStreamSource<T> of(
      SerializableSupplier<ShardedChangeStream> stream, ChangeDeserializer<T> deserializer) {
    return new ChangeStreamSource<>(stream, deserializer, 1);
  }

  /**
   * The same with several splits for each shard, by ranges of the hashed {@code _id}. Each costs
   * its shard the reading of the whole oplog, so more than a few seldom pay. A job that goes on
   * from a savepoint keeps the splits that it has.
   *
   * @param splits 1 or more
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
