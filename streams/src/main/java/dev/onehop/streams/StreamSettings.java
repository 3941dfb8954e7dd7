package dev.onehop.streams;

import com.mongodb.MongoClientSettings;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Source;
import dev.onehop.streams.internal.merge.MergeSettings;
import dev.onehop.streams.internal.merge.MergedStream;
import dev.onehop.streams.internal.shard.StreamCommand;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The settings of a stream, which {@link ShardedChangeStream.Builder} creates. */
record StreamSettings(
    MongoClientSettings client,
    @Nullable UnaryOperator<String> hostMapping,
    Source source,
    @Nullable Checkpoint start,
    StreamCommand command,
    MergeSettings merge,
    MergedStream.Observation observation) {}
