package dev.onehop.copy.internal.apply;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoNamespace;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.copy.internal.cluster.ClusterQueries;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Runs the commands of an event that change the destination's collections. Thread-safe.
 *
 * @param guard fails if another process owns the job; each command starts only after the guard has
 *     completed
 * @param uncertain whether the destination may be newer than the event
 */
record SchemaCommands(MongoClient destination, Mono<Void> guard, boolean uncertain) {
  private static final Logger log = LoggerFactory.getLogger(SchemaCommands.class);

  /**
   * Runs a command with majority write concern, and retries while servers are unreachable.
   *
   * @param ignored error codes that are ignored, because they show that the command has run before
   */
  Mono<Void> run(String database, BsonDocument command, int... ignored) {
    command.append("writeConcern", WriteConcern.MAJORITY.asDocument());
    return guard
        .thenMany(destination.getDatabase(database).runCommand(command))
        .next()
        .retryWhen(SourceReads.untilThere())
        .then()
        .onErrorComplete(
            failure ->
                failure instanceof MongoCommandException refused
                    && IntStream.of(ignored).anyMatch(code -> code == refused.getErrorCode()));
  }

  /**
   * Runs a command as {@link #run}. Ignores a refusal if the destination may be newer than the
   * event. The collection then already has its final state, or a later event brings it there.
   */
  Mono<Void> runTolerant(String database, BsonDocument command, int... ignored) {
    Mono<Void> run = run(database, command, ignored);
    return uncertain
        ? run.onErrorResume(
            MongoCommandException.class,
            refused -> {
              log.info(
                  "a command is not applied, because the destination may be newer: {}",
                  refused.getErrorMessage());
              return Mono.empty();
            })
        : run;
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
