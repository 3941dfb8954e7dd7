package dev.onehop.routing.internal.client;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.ServerAddress;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteInsert;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.bulk.BulkWriteUpsert;
import com.mongodb.bulk.WriteConcernError;
import com.mongodb.client.model.WriteModel;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A bulk write, split by where its models belong: unordered, a bulk per route, side by side;
 * ordered, runs of models of one route, one after the other up to the first write error. Results
 * and errors carry the indexes of the caller's list.
 *
 * @param <D> the type of the collection's documents
 */
final class BulkSplit<D> {
  private final boolean ordered;
  private final List<Part<D>> parts;
  private int sideBySide = Integer.MAX_VALUE;

  /** Models that go the same way, with their indexes in the caller's list. */
  record Part<D>(Route route, List<WriteModel<? extends D>> models, List<Integer> indexes) {
    private Part(Route route) {
      this(route, new ArrayList<>(), new ArrayList<>());
    }
  }

  /** Runs one part. */
  interface PartWriter<D> {
    Mono<BulkWriteResult> write(Part<D> part);
  }

  private record Outcome<D>(
      Part<D> part,
      @Nullable BulkWriteResult result,
      @Nullable MongoBulkWriteException errors,
      @Nullable Throwable failure) {
    /** A write concern error alone ends no bulk: its models are written. */
    private boolean endsOrdered() {
      return failure != null || (errors != null && !errors.getWriteErrors().isEmpty());
    }
  }

  /**
   * @param models the caller's list
   * @param routes the route of each
   */
  BulkSplit(List<? extends WriteModel<? extends D>> models, List<Route> routes, boolean ordered) {
    this.ordered = ordered;
    this.parts = ordered ? runs(models, routes) : groups(models, routes);
  }

  /** Unordered parts, too, run one after the other then. */
  BulkSplit<D> inTurn() {
    sideBySide = 1;
    return this;
  }

  /** The parts, in the order in which they run when the bulk is ordered. */
  List<Part<D>> parts() {
    return parts;
  }

  /**
   * Writes all parts.
   *
   * @return the whole result; a {@link MongoBulkWriteException} for the whole list if models
   *     failed, or the failure of a part if one failed as a whole
   */
  Mono<BulkWriteResult> write(PartWriter<D> writer) {
    if (parts.size() == 1) {
      return writer.write(parts.get(0));
    }
    Flux<Outcome<D>> outcomes =
        ordered
            ? Flux.fromIterable(parts)
                .concatMap(part -> outcome(writer, part), 1)
                .takeUntil(Outcome::endsOrdered)
            : Flux.fromIterable(parts).flatMap(part -> outcome(writer, part), sideBySide);
    return outcomes.collectList().flatMap(this::whole);
  }

  private Mono<Outcome<D>> outcome(PartWriter<D> writer, Part<D> part) {
    return writer
        .write(part)
        .map(result -> new Outcome<>(part, result, null, null))
        .onErrorResume(
            failure ->
                Mono.just(
                    failure instanceof MongoBulkWriteException errors
                        ? new Outcome<>(part, errors.getWriteResult(), errors, null)
                        : new Outcome<>(part, null, null, failure)));
  }

  private Mono<BulkWriteResult> whole(List<Outcome<D>> outcomes) {
    Totals totals = new Totals();
    Throwable failure = null;
    for (Outcome<D> outcome : outcomes) {
      failure = failure == null ? outcome.failure() : failure;
      totals.add(outcome);
    }
    return failure != null ? Mono.error(failure) : totals.toResult();
  }

  private static <D> List<Part<D>> groups(
      List<? extends WriteModel<? extends D>> models, List<Route> routes) {
    Map<Route, Part<D>> byRoute = new LinkedHashMap<>();
    for (int i = 0; i < models.size(); i++) {
      Part<D> part = byRoute.computeIfAbsent(routes.get(i), Part::new);
      part.models().add(models.get(i));
      part.indexes().add(i);
    }
    return List.copyOf(byRoute.values());
  }

  private static <D> List<Part<D>> runs(
      List<? extends WriteModel<? extends D>> models, List<Route> routes) {
    List<Part<D>> runs = new ArrayList<>();
    Part<D> last = null;
    for (int i = 0; i < models.size(); i++) {
      if (last == null || !last.route().equals(routes.get(i))) {
        last = new Part<>(routes.get(i));
        runs.add(last);
      }
      last.models().add(models.get(i));
      last.indexes().add(i);
    }
    return runs;
  }

  private static final class Totals {
    private int inserted;
    private int matched;
    private int deleted;
    private int modified;
    private boolean acknowledged = true;
    private final List<BulkWriteUpsert> upserts = new ArrayList<>();
    private final List<BulkWriteInsert> inserts = new ArrayList<>();
    private final List<BulkWriteError> errors = new ArrayList<>();
    private final Set<String> labels = new HashSet<>();
    private @Nullable WriteConcernError writeConcernError;
    private @Nullable ServerAddress server;

    void add(Outcome<?> outcome) {
      List<Integer> indexes = outcome.part().indexes();
      BulkWriteResult result = outcome.result();
      if (result != null && result.wasAcknowledged()) {
        inserted += result.getInsertedCount();
        matched += result.getMatchedCount();
        deleted += result.getDeletedCount();
        modified += result.getModifiedCount();
        result
            .getUpserts()
            .forEach(u -> upserts.add(new BulkWriteUpsert(indexes.get(u.getIndex()), u.getId())));
        result
            .getInserts()
            .forEach(i -> inserts.add(new BulkWriteInsert(indexes.get(i.getIndex()), i.getId())));
      } else if (result != null) {
        acknowledged = false;
      }
      MongoBulkWriteException failed = outcome.errors();
      if (failed != null) {
        server = failed.getServerAddress();
        labels.addAll(failed.getErrorLabels());
        if (failed.getWriteConcernError() != null) {
          writeConcernError = failed.getWriteConcernError();
        }
        for (BulkWriteError error : failed.getWriteErrors()) {
          errors.add(
              new BulkWriteError(
                  error.getCode(),
                  error.getMessage(),
                  error.getDetails(),
                  indexes.get(error.getIndex())));
        }
      }
    }

    Mono<BulkWriteResult> toResult() {
      if (!acknowledged) {
        return Mono.just(BulkWriteResult.unacknowledged());
      }
      upserts.sort(Comparator.comparingInt(BulkWriteUpsert::getIndex));
      inserts.sort(Comparator.comparingInt(BulkWriteInsert::getIndex));
      errors.sort(Comparator.comparingInt(BulkWriteError::getIndex));
      BulkWriteResult result =
          BulkWriteResult.acknowledged(inserted, matched, deleted, modified, upserts, inserts);
      return server == null
          ? Mono.just(result)
          : Mono.error(
              new MongoBulkWriteException(result, errors, writeConcernError, server, labels));
    }
  }
}
