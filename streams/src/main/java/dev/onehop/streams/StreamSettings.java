package dev.onehop.streams;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostPolicy;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.Source;
import dev.onehop.streams.internal.merge.MergeSettings;
import dev.onehop.streams.internal.merge.MergedStream;
import dev.onehop.streams.internal.shard.StreamCommand;
import dev.onehop.streams.observation.StreamListener;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** The settings of a stream, as built by {@link ShardedChangeStream.Builder}. */
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
    Duration heartbeatInterval,
    @Nullable Checkpoint start,
    Order order,
    Source source,
    HistoryLostPolicy historyLost,
    Duration progressInterval,
    long bufferPerShard,
    boolean groupTransactions,
    @Nullable MeterRegistry meters,
    StreamListener listener,
    Duration stallAfter) {

  StreamCommand command() {
    BsonDocument options = new BsonDocument();
    if (fullDocument != FullDocument.DEFAULT) {
      options.append("fullDocument", new BsonString(fullDocument.getValue()));
    }
    if (fullDocumentBeforeChange != FullDocumentBeforeChange.DEFAULT) {
      options.append(
          "fullDocumentBeforeChange", new BsonString(fullDocumentBeforeChange.getValue()));
    }
    if (showExpandedEvents) {
      options.append("showExpandedEvents", BsonBoolean.TRUE);
    }
    return new StreamCommand(database, collection, options, pipeline, batchSize);
  }

  /**
   * @param grouped false if transactions are not grouped even if the settings enable it
   */
  MergeSettings merge(boolean grouped) {
    return new MergeSettings(
        order,
        historyLost,
        maxAwaitTime,
        heartbeatInterval,
        progressInterval,
        bufferPerShard,
        grouped && groupTransactions);
  }

  MergedStream.Observation observation() {
    return new MergedStream.Observation(watched(), meters, listener, stallAfter);
  }

  private String watched() {
    if (collection != null) {
      return database + "." + collection;
    }
    return database.equals("admin") ? "cluster" : database;
  }
}
