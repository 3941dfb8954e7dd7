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
 * Writes all documents of a collection to a {@link FencedSink}, and then the collection's changes.
 * Each document is read at one cluster time, and each event of the document after this time is
 * written exactly once.
 *
 * <p>The owner of a channel reads the documents of the channel in the order of {@code _id}, and
 * stores its progress together with the documents. If the owner stops or crashes, the next owner
 * continues after the stored progress, with a newer snapshot. Events whose changes are already in a
 * document are left out. The sink receives a document as an {@code insert} event, with the cluster
 * time of the snapshot.
 *
 * <p>Until all documents are read, the oplogs must contain all changes since the first document was
 * read. A member reads the whole collection once for all channels that it takes at about the same
 * time, and keeps these channels until it has finished reading. The collection must not have a
 * default collation, because {@code _id}s are compared byte by byte.
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
   * @param group the group, whose stream watches the collection. The start in the stream's settings
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
   * Sets the fields of the shard key. They are in the {@code documentKey} of the {@code insert}
   * events for the documents that are read, as in the change events of a sharded collection. By
   * default {@code documentKey} has only {@code _id}.
   *
   * @param fields the names of the fields in the order of the shard key, with dots for nested
   *     fields
   */
  public SnapshotThenStream shardKey(String... fields) {
    return new SnapshotThenStream(group, client, source, List.of(fields));
  }

  /**
   * Makes this process a member, as {@link ChannelGroup#process(ChannelSink)}.
   *
   * @param sink the sink. Its collection need not be empty if the sink's writes replace documents
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

  /**
   * The start of the group: the operation time of a majority read. A snapshot that is read
   * afterwards has the same or a later cluster time, so the stream has all changes since the
   * snapshot.
   */
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
