package dev.onehop.streams.internal.shard;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.shards.ClusterServers;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.ShardCursor;
import dev.onehop.streams.internal.merge.Pauses;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.merge.ShardStream.Batch;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Adds {@code fullDocument} to the update events of a shard, as a mongos does for {@code
 * updateLookup}. The documents are looked up through the mongoses and not at the event's shard,
 * because a document may have moved. A found document has the state of the event's time or of a
 * later time. A lookup also finds a document whose shard key the update has changed; a mongos would
 * not find it. After the lookups, the shard applies the stages of the pipeline that come after the
 * lookup.
 *
 * @param servers the servers, whose seeds are mongoses. The events come from these servers, too, so
 *     the clock of this object has reached the cluster times of the events
 * @param command the command of the stream with the application's settings
 */
record Lookups(ClusterServers servers, StreamCommand command) {
  private static final BsonPath TYPE = BsonPath.of("operationType");
  private static final BsonString UPDATE = new BsonString("update");
  private static final int AT_ONCE = 64;
  private static final int MOST_BYTES_OF_EVENT = 16 << 20;
  private static final int MOST_BYTES_AT_ONCE = 8 << 20;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  /**
   * The batch with looked-up documents, after all stages of the pipeline.
   *
   * @param shard the shard of the batch
   */
  Mono<Batch> complete(ReplicaSet shard, Batch batch) {
    return Flux.fromIterable(batch.events())
        .flatMapSequential(this::lookedUp, AT_ONCE)
        .collectList()
        .flatMap(
            events ->
                events.isEmpty() || command.afterLookups().isEmpty()
                    ? Mono.just(events)
                    : piped(shard, events).collectList())
        .map(events -> new Batch(events, batch.resumeToken(), batch.ended()));
  }

  private Mono<RawBsonDocument> lookedUp(RawBsonDocument event) {
    return UPDATE.equals(TYPE.value(event))
        ? retried(find(event)).map(found -> with(event, found))
        : Mono.just(event);
  }

  private static <T> Mono<T> retried(Mono<T> command) {
    return command.retryWhen(
        Pauses.whenever(failure -> Failures.of(failure).kind() == ReadFailure.Kind.PASSING));
  }

  private Mono<BsonValue> find(RawBsonDocument event) {
    return Mono.defer(
        () -> {
          BsonDocument namespace = event.getDocument("ns");
          BsonDocument find =
              new BsonDocument("find", namespace.getString("coll"))
                  .append("filter", KeyAfterUpdate.filter(event))
                  .append("limit", new BsonInt32(1))
                  .append("singleBatch", BsonBoolean.TRUE)
                  .append(
                      "readConcern",
                      StreamCommand.majorityAfter(event.getTimestamp("clusterTime")));
          servers.clock().gossip(find);
          return servers
              .seeds()
              .run(namespace.getString("db").getValue(), find)
              .map(CursorReplies::documents)
              .map(found -> found.isEmpty() ? BsonNull.VALUE : found.get(0));
        });
  }

  /** Inserts the document before the field {@code ns}, as servers do. */
  private static RawBsonDocument with(RawBsonDocument event, BsonValue document) {
    BsonDocument copy = new BsonDocument();
    event.forEach(
        (name, value) -> {
          if (name.equals("ns")) {
            copy.append("fullDocument", document);
          }
          copy.append(name, value);
        });
    return new RawBsonDocument(copy, CODEC);
  }

  /** Applies the stages after the lookup to the events. Large batches are split. */
  private Flux<RawBsonDocument> piped(ReplicaSet shard, List<RawBsonDocument> events) {
    long bytes = events.stream().mapToLong(Lookups::bytes).sum();
    if (bytes > MOST_BYTES_AT_ONCE && events.size() > 1) {
      return inHalves(shard, events);
    }
    if (bytes > MOST_BYTES_OF_EVENT) {
      return Flux.error(
          new CommandFailure(
              Failures.BSON_OBJECT_TOO_LARGE,
              "BSONObjectTooLarge",
              "an event and its document together are too large: " + bytes + " bytes"));
    }
    OpMsg aggregate = OpMsg.command(command.afterLookups(events));
    return retried(shard.send(aggregate).flatMap(Answer::orFailure))
        .flatMapMany(
            answer ->
                CursorReplies.id(answer.document()) == 0
                    ? Flux.fromIterable(checked(CursorReplies.documents(answer.document()), events))
                    : new ShardCursor(shard, aggregate, answer)
                        .kill()
                        .thenMany(inHalves(shard, events)));
  }

  private Flux<RawBsonDocument> inHalves(ReplicaSet shard, List<RawBsonDocument> events) {
    int half = events.size() / 2;
    return Flux.just(events.subList(0, half), events.subList(half, events.size()))
        .concatMap(part -> piped(shard, part));
  }

  private static int bytes(RawBsonDocument event) {
    return event.getByteBuffer().remaining();
  }

  /**
   * Checks the result of the pipeline as a server checks it: the pipeline must not change {@code
   * _id}.
   */
  private static List<RawBsonDocument> checked(
      List<RawBsonDocument> given, List<RawBsonDocument> events) {
    Set<BsonValue> tokens =
        events.stream().map(event -> event.get("_id")).collect(Collectors.toSet());
    for (RawBsonDocument event : given) {
      if (!tokens.contains(event.get("_id"))) {
        throw new CommandFailure(
            ErrorCodes.CHANGE_STREAM_FATAL_ERROR,
            "ChangeStreamFatalError",
            "Encountered an event whose _id field, which contains the resume token, was modified by"
                + " the pipeline. Modifying the _id field of an event makes it impossible to resume"
                + " the stream from that point. Only transformations that retain the unmodified _id"
                + " field are allowed. Found: "
                + event.get("_id"),
            List.of(Failures.NOT_RESUMABLE));
      }
    }
    return given;
  }
}
