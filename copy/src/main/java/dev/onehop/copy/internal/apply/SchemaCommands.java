package dev.onehop.copy.internal.apply;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoNamespace;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.copy.internal.cluster.ClusterQueries;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Runs commands that change the destination's collections. Each command first waits for a guard,
 * which fails if another process owns the job. Thread-safe.
 */
final class SchemaCommands {
  private static final Logger log = LoggerFactory.getLogger(SchemaCommands.class);
  private static final Object GUARD = new Object();

  private final MongoClient destination;

  SchemaCommands(MongoClient destination) {
    this.destination = destination;
  }

  /** Returns the work, changed so that its commands first wait for the guard. */
  static <T> Mono<T> guarded(Mono<T> work, Mono<Void> guard) {
    return work.contextWrite(context -> context.put(GUARD, guard));
  }

  /**
   * Runs a command with majority write concern, and retries while servers are unreachable.
   *
   * @param ignored error codes that are ignored, because they show that the command has run before
   */
  Mono<Void> run(String database, BsonDocument command, int... ignored) {
    if (!command.containsKey("writeConcern")) {
      command.append("writeConcern", new BsonDocument("w", new BsonString("majority")));
    }
    return Mono.deferContextual(
            context ->
                context
                    .<Mono<Void>>getOrEmpty(GUARD)
                    .orElseGet(Mono::empty)
                    .thenMany(destination.getDatabase(database).runCommand(command))
                    .next())
        .retryWhen(SourceReads.untilThere())
        .then()
        .onErrorResume(
            MongoCommandException.class,
            refused -> {
              for (int code : ignored) {
                if (refused.getErrorCode() == code) {
                  return Mono.empty();
                }
              }
              return Mono.error(refused);
            });
  }

  /**
   * Ignores a refusal if the destination may be newer than the event. The collection then already
   * has its final state, or a later event brings it there.
   */
  static Mono<Void> tolerant(Mono<Void> command, boolean uncertain) {
    return uncertain
        ? command.onErrorResume(
            MongoCommandException.class,
            refused -> {
              log.info(
                  "a command is not applied, because the destination may be newer: {}",
                  refused.getErrorMessage());
              return Mono.empty();
            })
        : command;
  }

  /** Whether the destination has a collection. */
  Mono<Boolean> exists(MongoNamespace namespace) {
    return SourceReads.listed(
            destination, namespace, Filters.eq("name", namespace.getCollectionName()))
        .hasElement()
        .retryWhen(SourceReads.untilThere());
  }

  /** Whether the destination is a sharded cluster. */
  Mono<Boolean> isSharded() {
    return ClusterQueries.isSharded(destination).retryWhen(SourceReads.untilThere());
  }
}
