package dev.onehop.streams.internal.shard;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.routing.spi.cursor.CursorReplies;
import dev.onehop.routing.spi.setup.ClusterServers;
import dev.onehop.routing.spi.shard.ReplicaSet.Answer;
import dev.onehop.routing.spi.wire.OpMsg;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.merge.ReadFailure;
import java.time.Duration;
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
import reactor.util.retry.Retry;

/**
 * Looks up the documents of updates where the cluster has them now, not at the shard that the event
 * comes from: there it would be missing once it has moved. What is found is of the event's time or
 * later.
 */
public final class Lookups {
  private static final BsonPath TYPE = BsonPath.of("operationType");
  private static final BsonString UPDATE = new BsonString("update");
  private static final int AT_ONCE = 64;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private final ClusterServers servers;

  /**
   * @param servers that the events come from, too, so that the lookups know their cluster times;
   *     the seeds are mongoses or a replica set
   */
  public Lookups(ClusterServers servers) {
    this.servers = servers;
  }

  /** The events in their order, with their documents. */
  public Flux<StreamEvent> complete(Flux<StreamEvent> events) {
    return events.flatMapSequential(this::complete, AT_ONCE, AT_ONCE);
  }

  private Mono<StreamEvent> complete(StreamEvent event) {
    if (event instanceof StreamEvent.Transaction transaction) {
      return Flux.fromIterable(transaction.changes())
          .flatMapSequential(this::complete, AT_ONCE)
          .cast(StreamEvent.Change.class)
          .collectList()
          .map(
              changes ->
                  new StreamEvent.Transaction(
                      transaction.shard(),
                      transaction.lsid(),
                      transaction.txnNumber(),
                      changes,
                      transaction.last(),
                      transaction.checkpoint()));
    }
    return event instanceof StreamEvent.Change change && isUpdate(change.document())
        ? find(change.document())
            .retryWhen(
                Retry.backoff(Long.MAX_VALUE, FIRST_PAUSE)
                    .maxBackoff(LONGEST_PAUSE)
                    .filter(failure -> Failures.of(failure).kind() == ReadFailure.Kind.PASSING))
            .onErrorMap(failure -> Failures.of(failure).getCause())
            .map(
                found ->
                    new StreamEvent.Change(
                        change.shard(),
                        change.token(),
                        with(change.document(), found),
                        change.receivedNanos(),
                        change.checkpoint()))
        : Mono.just(event);
  }

  private static boolean isUpdate(RawBsonDocument event) {
    BsonPath.Located found = TYPE.find(event);
    return found != null && found.value().equals(UPDATE);
  }

  private Mono<BsonValue> find(RawBsonDocument event) {
    return Mono.defer(
        () -> {
          BsonDocument namespace = event.getDocument("ns");
          BsonDocument readConcern =
              new BsonDocument("level", new BsonString("majority"))
                  .append("afterClusterTime", event.getTimestamp("clusterTime"));
          BsonDocument find =
              new BsonDocument("find", namespace.getString("coll"))
                  .append("filter", event.getDocument("documentKey"))
                  .append("limit", new BsonInt32(1))
                  .append("singleBatch", BsonBoolean.TRUE)
                  .append("readConcern", readConcern)
                  .append("$db", namespace.getString("db"));
          servers.clock().gossip(find);
          return servers
              .seeds()
              .send(OpMsg.command(find))
              .map(Answer::document)
              .flatMap(CursorReplies::refuseFailed)
              .map(
                  reply ->
                      CursorReplies.documents(reply).stream()
                          .<BsonValue>map(document -> document)
                          .findFirst()
                          .orElse(BsonNull.VALUE));
        });
  }

  private static RawBsonDocument with(RawBsonDocument event, BsonValue document) {
    BsonDocument copy = new BsonDocument();
    copy.putAll(event);
    copy.put("fullDocument", document);
    return new RawBsonDocument(copy, CODEC);
  }
}
