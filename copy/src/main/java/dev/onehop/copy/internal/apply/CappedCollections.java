package dev.onehop.copy.internal.apply;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.channel.Channels;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The source's capped collections. All events of a capped collection go to one channel, because the
 * order of the inserts decides which documents the collection removes.
 *
 * <p>After a restart, each event must go to the same channel as before, even if its collection no
 * longer exists. The destination therefore stores the UUIDs of all capped collections. Events of
 * the stream report new capped collections. Thread-safe.
 */
final class CappedCollections {
  private static final BsonPath UUID = BsonPath.of("collectionUUID");

  private final MongoClient source;
  private final MongoCollection<BsonDocument> remembered;
  private final Mapping mapping;
  private final int channels;
  private final Set<BsonValue> known = ConcurrentHashMap.newKeySet();

  /**
   * @param remembered the collection that stores the UUIDs; {@link SchemaChanges} adds the UUIDs of
   *     new capped collections
   */
  CappedCollections(
      MongoClient source, MongoCollection<BsonDocument> remembered, Mapping mapping, int channels) {
    this.source = source;
    this.remembered = remembered;
    this.mapping = mapping;
    this.channels = channels;
  }

  /** Whether an event reports a new capped collection. */
  static boolean isCreated(RawBsonDocument event) {
    return event.getString("operationType").getValue().equals("create")
        && event.containsKey("collectionUUID")
        && event
            .getDocument("operationDescription", new BsonDocument())
            .getBoolean("capped", BsonBoolean.FALSE)
            .getValue();
  }

  /** Finds the existing capped collections, before events are read. */
  Mono<Void> find() {
    return Flux.from(remembered.find(Filters.type("_id", BsonType.BINARY)))
        .doOnNext(each -> known.add(each.get("_id")))
        .then()
        .retryWhen(SourceReads.untilThere())
        .thenMany(Flux.defer(this::atSource).collectList().retryWhen(SourceReads.untilThere()))
        .flatMapIterable(all -> all)
        .filter(known::add)
        .concatMap(uuid -> remember(uuid).retryWhen(SourceReads.untilThere()))
        .then();
  }

  private Flux<BsonValue> atSource() {
    return Flux.from(source.listDatabaseNames())
        .filter(mapping::concerns)
        .concatMap(
            database ->
                source
                    .getDatabase(database)
                    .listCollections(BsonDocument.class)
                    .filter(Filters.eq("options.capped", true)))
        .mapNotNull(each -> each.getDocument("info").get("uuid"));
  }

  private Mono<Void> remember(BsonValue uuid) {
    return Mono.from(
            remembered.replaceOne(
                Filters.eq(uuid), new BsonDocument("_id", uuid), new ReplaceOptions().upsert(true)))
        .then();
  }

  /** The channel of an event. It must be called for each event in the order of the stream. */
  int channel(RawBsonDocument event) {
    int channel = Channels.of(event, channels);
    if (channel == Channels.ALL) {
      if (isCreated(event)) {
        known.add(event.get("collectionUUID"));
      }
      return channel;
    }
    BsonPath.Located uuid = known.isEmpty() ? null : UUID.find(event);
    return uuid != null && known.contains(uuid.value())
        ? Channels.of(uuid.value(), channels)
        : channel;
  }
}
