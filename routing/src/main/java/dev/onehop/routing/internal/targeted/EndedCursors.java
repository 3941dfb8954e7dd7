package dev.onehop.routing.internal.targeted;

import dev.onehop.shards.command.SessionCommands;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonValue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Closes cursors that may be at several mongoses.
 *
 * <p>Thread-safe.
 */
final class EndedCursors {
  private final WirePool pool;
  private final CursorPins cursors;

  EndedCursors(WirePool pool, CursorPins cursors) {
    this.pool = pool;
    this.cursors = cursors;
  }

  /** Sends a killCursors command to the mongos of each of its cursors. */
  Mono<BsonDocument> kill(OpMsg command) {
    BsonArray unknown = new BsonArray();
    Map<ServerAddressName, Map<BsonValue, BsonValue>> sent = new LinkedHashMap<>();
    for (BsonValue id : command.body().getArray("cursors")) {
      CursorPins.Pin pin = id.isInt64() ? cursors.remove(id.asInt64().getValue()) : null;
      if (pin == null) {
        unknown.add(id);
      } else {
        sent.computeIfAbsent(pin.server(), server -> new LinkedHashMap<>())
            .put(new BsonInt64(pin.id()), id);
      }
    }
    return Flux.fromIterable(sent.entrySet())
        .flatMap(each -> kill(command, each.getKey(), each.getValue()))
        .collectList()
        .map(
            replies -> {
              BsonDocument refusal = SessionCommands.firstRefusal(replies);
              return ErrorCodes.ok(refusal) ? killed(replies, unknown) : refusal;
            });
  }

  /** The reply of one mongos, with the driver's cursor ids. */
  private Mono<BsonDocument> kill(
      OpMsg command, ServerAddressName server, Map<BsonValue, BsonValue> ids) {
    BsonDocument body =
        command
            .bodyWithout(Set.of("cursors"))
            .append("cursors", new BsonArray(List.copyOf(ids.keySet())));
    return pool.send(server, command.withSequences(List.of()).withBody(body))
        .map(
            reply -> {
              BsonDocument renamed = new BsonDocument();
              reply
                  .body()
                  .forEach(
                      (field, value) ->
                          renamed.put(
                              field,
                              value.isArray() && field.startsWith("cursors")
                                  ? new BsonArray(
                                      value.asArray().stream()
                                          .map(id -> ids.getOrDefault(id, id))
                                          .toList())
                                  : value));
              return renamed;
            })
        // If the mongos has ended, its cursors have ended, too. If it is only unreachable, they
        // time out.
        .onErrorResume(
            IOException.class,
            gone ->
                Mono.just(
                    new BsonDocument("cursorsUnknown", new BsonArray(List.copyOf(ids.values())))
                        .append("ok", new BsonDouble(1))));
  }

  private static BsonDocument killed(List<BsonDocument> replies, BsonArray notFound) {
    BsonDocument whole = new BsonDocument();
    for (String field :
        List.of("cursorsKilled", "cursorsNotFound", "cursorsAlive", "cursorsUnknown")) {
      BsonArray ids = field.equals("cursorsNotFound") ? notFound.clone() : new BsonArray();
      replies.forEach(reply -> ids.addAll(reply.getArray(field, new BsonArray())));
      whole.append(field, ids);
    }
    return whole.append("ok", new BsonDouble(1));
  }
}
