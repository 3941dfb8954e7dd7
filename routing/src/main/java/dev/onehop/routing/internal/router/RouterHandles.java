package dev.onehop.routing.internal.router;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.wire.message.OpMsg;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * From a collection to the router behind it. The collection is the driver's own, which has no
 * reference to its client: so the question goes as a command where all of its commands go, and the
 * virtual mongos there answers it with the number of its router in this process.
 *
 * <p>Thread-safe.
 */
public final class RouterHandles {
  /** The stage of the aggregation that is the question. */
  public static final String STAGE = "$onehopRouter";

  private static final String ANSWER = "router";
  private static final Map<Long, WeakReference<ExplainedRouter>> ROUTERS =
      new ConcurrentHashMap<>();
  private static final AtomicLong LAST = new AtomicLong();

  private RouterHandles() {}

  /** Gives a router a number. */
  public static long put(ExplainedRouter router) {
    long number = LAST.incrementAndGet();
    ROUTERS.put(number, new WeakReference<>(router));
    return number;
  }

  /** Takes a router's number back. */
  public static void remove(long number) {
    ROUTERS.remove(number);
  }

  /** Whether a command is the question. */
  public static boolean isQuestion(OpMsg command) {
    BsonDocument body = command.body();
    return body.isArray("pipeline")
        && body.getArray("pipeline").size() == 1
        && body.getArray("pipeline").get(0) instanceof BsonDocument stage
        && stage.containsKey(STAGE);
  }

  /** The answer to the question. */
  public static BsonDocument answer(long number) {
    BsonDocument found = new BsonDocument(ANSWER, new BsonInt64(number));
    return new BsonDocument(
            "cursor",
            new BsonDocument("firstBatch", new BsonArray(List.of(found)))
                .append("id", new BsonInt64(0))
                .append("ns", new BsonString("onehop.router")))
        .append("ok", new BsonDouble(1));
  }

  /**
   * The router behind a collection.
   *
   * @return an {@link IllegalArgumentException} if no router is behind the collection
   */
  public static Mono<ExplainedRouter> of(MongoCollection<?> collection) {
    return Mono.from(
            collection
                .withCodecRegistry(MongoClientSettings.getDefaultCodecRegistry())
                .withDocumentClass(BsonDocument.class)
                .withReadPreference(ReadPreference.primary())
                .withReadConcern(ReadConcern.DEFAULT)
                .aggregate(List.of(new BsonDocument(STAGE, new BsonDocument())))
                .first())
        .onErrorMap(MongoCommandException.class, e -> notOurs(collection, e))
        .mapNotNull(
            answer -> {
              WeakReference<ExplainedRouter> router =
                  ROUTERS.get(answer.getNumber(ANSWER, new BsonInt64(0)).longValue());
              return router == null ? null : router.get();
            })
        .switchIfEmpty(Mono.error(() -> notOurs(collection, null)));
  }

  private static IllegalArgumentException notOurs(
      MongoCollection<?> collection, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "not a collection of a client that OneHop built: " + collection.getNamespace(), cause);
  }
}
