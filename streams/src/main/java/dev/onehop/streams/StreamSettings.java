package dev.onehop.streams;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.Source;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/** What a stream is made of; as the builder has it. */
record StreamSettings(
    MongoClientSettings client,
    @Nullable UnaryOperator<String> hostMapping,
    String database,
    @Nullable String collection,
    List<BsonDocument> pipeline,
    FullDocument fullDocument,
    FullDocumentBeforeChange fullDocumentBeforeChange,
    boolean showExpandedEvents,
    int batchSize,
    Duration maxAwaitTime,
    @Nullable Checkpoint start,
    Order order,
    Source source,
    HistoryLostPolicy historyLost,
    Duration progressInterval,
    long bufferPerShard) {}
