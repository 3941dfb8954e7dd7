package dev.onehop.routing.internal.targeted;

import dev.onehop.routing.internal.metrics.Route;
import dev.onehop.shards.command.StatementLists;
import dev.onehop.shards.command.WriteResult;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.PoolWaitException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * An insert, update or delete of many statements, split by route. An unordered write becomes one
 * command per route, and the commands run in parallel. An ordered write becomes one command for
 * each run of consecutive statements with the same route. These commands run one after another up
 * to the first error. The replies are merged into the reply that a single mongos would return.
 */
final class SplitWrite {
  private final OpMsg command;
  private final List<RawBsonDocument> statements;
  private final boolean ordered;
  private final List<Part> parts;

  /** Statements with the same route, by their indexes in the whole write. */
  record Part(Route route, List<Integer> indexes) {}

  /**
   * The reply to a part.
   *
   * @param lost the error of a broken connection; null if there was none. After this error it is
   *     unknown which statements were executed
   */
  private record Answered(Part part, BsonDocument reply, @Nullable IOException lost) {}

  SplitWrite(OpMsg command, List<RawBsonDocument> statements, boolean ordered, List<Part> parts) {
    this.command = command;
    this.statements = statements;
    this.ordered = ordered;
    this.parts = parts;
  }

  /**
   * Groups statements into parts, in the order of execution if the command is ordered.
   *
   * @param routes the routes of the statements
   */
  static List<Part> parts(List<Route> routes, boolean ordered) {
    Map<Route, Part> byRoute = new LinkedHashMap<>();
    List<Part> runs = new ArrayList<>();
    for (int i = 0; i < routes.size(); i++) {
      Route route = routes.get(i);
      Part last = ordered && !runs.isEmpty() ? runs.get(runs.size() - 1) : byRoute.get(route);
      if (last == null || !last.route().equals(route)) {
        last = new Part(route, new ArrayList<>());
        byRoute.put(route, last);
        runs.add(last);
      }
      last.indexes().add(i);
    }
    return runs;
  }

  /**
   * Runs all parts. If the connection of one part breaks, the whole command fails with this error.
   * The driver may then send the command again. The mongoses recognise executed statements by their
   * statement ids.
   *
   * @param failed converts the failure of a part into a reply
   * @param run sends a part
   */
  Mono<BsonDocument> run(Function<Throwable, BsonDocument> failed, PartRunner run) {
    Function<Part, Mono<Answered>> answer =
        part ->
            run.run(part.route(), StatementLists.part(command, statements, part.indexes()))
                .map(reply -> new Answered(part, reply, null))
                .onErrorResume(
                    failure ->
                        Mono.just(
                            new Answered(
                                part,
                                failed.apply(failure),
                                failure instanceof IOException lost
                                        && !(failure instanceof PoolWaitException)
                                    ? lost
                                    : null)));
    Flux<Answered> answers =
        ordered
            ? Flux.fromIterable(parts).concatMap(answer, 1).takeUntil(SplitWrite::endsOrdered)
            : Flux.fromIterable(parts).flatMap(answer, Integer.MAX_VALUE);
    return answers
        .collectList()
        .flatMap(
            all ->
                all.stream()
                    .map(Answered::lost)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .<Mono<BsonDocument>>map(Mono::error)
                    .orElseGet(() -> Mono.just(whole(all))));
  }

  /** Sends one part of a write. */
  interface PartRunner {
    Mono<BsonDocument> run(Route route, OpMsg part);
  }

  /**
   * Whether a reply ends an ordered write. A write concern error alone does not end it, because the
   * statements were executed.
   */
  private static boolean endsOrdered(Answered answered) {
    return !ErrorCodes.ok(answered.reply()) || answered.reply().containsKey("writeErrors");
  }

  private BsonDocument whole(List<Answered> answers) {
    WriteResult result = new WriteResult(command, statements.size());
    for (Answered each : answers) {
      for (int stale : result.add(each.reply(), each.part().indexes())) {
        // The statement failed as stale. The mongos has retried it already, so the error is final.
        result.addError(stale, CommandFailure.of(result.lastRefusal()));
      }
    }
    return result.toReply();
  }
}
