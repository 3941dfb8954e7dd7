package com.example;

import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChangeChannels;
import dev.onehop.streams.channel.ChannelGroup;
import dev.onehop.streams.channel.FencedSink;
import dev.onehop.streams.channel.SnapshotThenStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.mirror.MirrorWrites;
import java.time.Duration;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Makes a copy of a sharded collection and keeps the copy up to date. Several processes may run
 * at the same time. They share the channels, and each document and event is written exactly once.
 */
public final class Mirror {
  private static final int CHANNELS = 8;

  private Mirror() {}

  /**
   * Copies the collection, then applies its changes. The result completes when the stream of
   * changes ends. To stop, cancel the subscription to the result.
   *
   * @param client the client of the cluster that has the copy
   * @param database the database of the copy, of the group's leases and of the sink's states
   */
  public static Mono<Void> run(
      String sourceUrl, String namespace, MongoClient client, String database) {
    String[] names = namespace.split("\\.", 2);
    return Flux.using(
            () -> MongoClients.create(sourceUrl),
            source ->
                mirror(
                    sourceUrl,
                    source,
                    source.getDatabase(names[0]).getCollection(names[1]),
                    client,
                    client.getDatabase(database)),
            MongoClient::close)
        .then();
  }

  private static Mono<Void> mirror(
      String sourceUrl,
      MongoClient source,
      MongoCollection<?> collection,
      MongoClient client,
      MongoDatabase copy) {
    String name = collection.getNamespace().getCollectionName();
    ShardedChangeStream stream =
        ShardedChangeStream.builder(sourceUrl)
            .collection(collection.getNamespace().getDatabaseName(), name)
            .showExpandedEvents(true)
            .build();
    ChannelGroup group =
        ChannelGroup.builder(stream, CHANNELS, "mirror", copy.getCollection("leases")).build();
    FencedSink sink =
        new FencedSink(
            client, copy.getCollection(name), copy.getCollection("states"), MirrorWrites.byId());
    return Mono.from(SnapshotThenStream.of(group, source, collection).process(sink));
  }

  /**
   * Applies a stream's changes in one process, each event at least once.
   *
   * @param stored stores the position from which the stream continues after a restart
   */
  public static Mono<Void> follow(
      ShardedChangeStream stream, MongoCollection<?> copy, Consumer<Checkpoint> stored) {
    return Mono.from(
        ChangeChannels.builder(stream, CHANNELS)
            .acknowledged(stored, Duration.ofSeconds(1))
            .build()
            .process(MirrorWrites.byId().into(copy)));
  }

  /** The arguments: connection string, {@code database.collection}, database of the copy. */
  public static void main(String[] args) {
    try (MongoClient client = MongoClients.create(args[0])) {
      run(args[0], args[1], client, args[2]).block();
    }
  }
}
