package dev.onehop.streams.channel;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.streams.event.Checkpoint;
import java.util.List;
import java.util.Objects;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * Writes all documents of a collection to a {@link FencedSink}, and then its changes from exactly
 * there: each document as of one cluster time, and each event after this time once.
 *
 * <p>The owner of a channel reads the documents of the channel, in the order of {@code _id}, and
 * stores its progress together with them. After a member was stopped or killed, the next owner
 * continues from there, as of another time. Events that a document contains already are left out.
 * The sink receives a document as an {@code insert} event, with the cluster time of the snapshot.
 *
 * <p>The oplogs have to reach back to the first document's time until all are read. A member reads
 * the whole collection once for the channels that it takes together, and keeps these channels until
 * it has read it. The collection must not have a collation of its own, because {@code _id}s are
 * compared byte by byte.
 *
 * <p>Immutable and thread-safe.
 */
public final class SnapshotThenStream {
  private final ChannelGroup group;
  private final MongoClient client;
  private final MongoCollection<?> source;
  private final List<String> key;

  private SnapshotThenStream(
      ChannelGroup group, MongoClient client, MongoCollection<?> source, List<String> key) {
    this.group = group;
    this.client = client;
    this.source = source;
    this.key = key;
  }

  /**
   * Creates an object for a group.
   *
   * @param group the group, with the stream of the collection. The start in the stream's settings
   *     is not used
   * @param client the client of the collection; its servers must support read concern {@code
   *     snapshot} (5.0 and later)
   * @param source the collection
   */
  public static SnapshotThenStream of(
      ChannelGroup group, MongoClient client, MongoCollection<?> source) {
    return new SnapshotThenStream(
        Objects.requireNonNull(group, "group"),
        Objects.requireNonNull(client, "client"),
        Objects.requireNonNull(source, "source"),
        List.of());
  }

  /**
   * Adds fields to the {@code documentKey} of documents that are read, as change events of a
   * sharded collection have it: the fields of the shard key, in order. By default it has only
   * {@code _id}.
   *
   * @param fields the names, with dots for nested fields
   */
  public SnapshotThenStream shardKey(String... fields) {
    return new SnapshotThenStream(group, client, source, List.of(fields));
  }

  /**
   * Makes this process a member, as {@link ChannelGroup#process(ChannelSink)}.
   *
   * @param sink the sink; its collection need not be empty if its writes replace documents
   */
  public Publisher<Void> process(FencedSink sink) {
    Objects.requireNonNull(sink, "sink");
    return Mono.defer(
        () -> {
          SnapshotSink filling =
              new SnapshotSink(new SnapshotReader(client, source, key, group::channelOf), sink);
          return Mono.from(group.startingAt(start()).process(filling))
              .doFinally(end -> filling.close());
        });
  }

  /** A time that no later snapshot is before: a majority has it. */
  private Mono<Checkpoint> start() {
    return Mono.usingWhen(
        client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build()),
        session ->
            Mono.from(
                    source
                        .withReadConcern(ReadConcern.MAJORITY)
                        .withReadPreference(ReadPreference.primary())
                        .find(session)
                        .first())
                .then(
                    Mono.fromSupplier(
                        () ->
                            Checkpoint.before(Objects.requireNonNull(session.getOperationTime())))),
        session -> Mono.fromRunnable(session::close));
  }
}
