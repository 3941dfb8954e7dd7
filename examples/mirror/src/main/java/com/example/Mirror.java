package com.example;

import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChannelGroup;
import dev.onehop.streams.channel.FencedSink;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import reactor.core.publisher.Mono;

/**
 * Keeps a copy of a sharded collection up to date, by its change stream. Several processes may run
 * it: they share the channels, and each event is written exactly once.
 */
public final class Mirror {
  private static final int CHANNELS = 8;

  private Mirror() {}

  /**
   * Completes when the stream ends; cancel it to stop.
   *
   * @param client of the cluster that has the copy
   * @param database of the copy, of the group's leases and of the sink's states
   */
  public static Mono<Void> run(
      String sourceUrl, String namespace, MongoClient client, String database) {
    String[] names = namespace.split("\\.", 2);
    MongoDatabase copy = client.getDatabase(database);
    ShardedChangeStream stream =
        ShardedChangeStream.builder(sourceUrl)
            .collection(names[0], names[1])
            .fullDocument(FullDocument.UPDATE_LOOKUP)
            .build();
    FencedSink sink =
        new FencedSink(
            client, copy.getCollection(names[1]), copy.getCollection("states"), Mirror::writes);
    return Mono.from(
        ChannelGroup.builder(stream, CHANNELS, "mirror", copy.getCollection("leases"))
            .build()
            .process(sink));
  }

  /** What an event changes in the copy. Each event has the whole document, or it is gone. */
  static List<WriteModel<BsonDocument>> writes(StreamEvent.Change change) {
    BsonDocument event = change.document();
    BsonDocument id = new BsonDocument("_id", event.getDocument("documentKey").get("_id"));
    BsonValue document = event.get("fullDocument");
    return switch (event.getString("operationType").getValue()) {
      case "insert", "replace", "update" ->
          document != null && document.isDocument()
              ? List.of(
                  new ReplaceOneModel<>(id, document.asDocument(), new ReplaceOptions().upsert(true)))
              : List.of();
      case "delete" -> List.of(new DeleteOneModel<>(id));
      default -> List.of();
    };
  }

  /** The arguments: connection string, {@code database.collection}, database of the copy. */
  public static void main(String[] args) {
    try (MongoClient client = MongoClients.create(args[0])) {
      run(args[0], args[1], client, args[2]).block();
    }
  }
}
