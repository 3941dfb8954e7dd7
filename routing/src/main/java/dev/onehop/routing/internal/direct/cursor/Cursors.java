package dev.onehop.routing.internal.direct.cursor;

import dev.onehop.routing.internal.direct.shard.ReplicaSet;
import dev.onehop.routing.internal.direct.shard.ReplicaSet.Answer;
import dev.onehop.routing.internal.wire.OpMsg;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The cursors that clients hold open, by the id that they were told.
 *
 * <p>Thread-safe; a single cursor is used by one request at a time, as a client does.
 */
public final class Cursors {
  private final Map<Long, OpenCursor> open = new ConcurrentHashMap<>();

  /** A cursor of a client, over one shard or several. */
  public interface OpenCursor {
    /** The reply to a getMore; its cursor id is 0 when there is nothing left. */
    Mono<BsonDocument> getMore(BsonDocument command, long id);

    /** Ends it at the shards; never fails. */
    public Mono<Void> kill();
  }

  /** Keeps a cursor under a new id: {@code wanted} if nobody has it. */
  public long add(long wanted, OpenCursor cursor) {
    long id = wanted;
    while (id == 0 || open.putIfAbsent(id, cursor) != null) {
      id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    }
    return id;
  }

  public @Nullable OpenCursor find(long id) {
    return open.get(id);
  }

  public void remove(long id) {
    open.remove(id);
  }

  /** Ends a cursor; whether there was one. */
  public Mono<Boolean> kill(long id) {
    OpenCursor cursor = open.remove(id);
    return cursor == null ? Mono.just(false) : cursor.kill().thenReturn(true);
  }

  /** An answer of a server as the client gets it, whose cursor is kept if it has an open one. */
  public BsonDocument keep(ReplicaSet replicaSet, OpMsg command, Answer answer) {
    BsonDocument reply = answer.document();
    long id = CursorReplies.id(reply);
    if (id == 0) {
      return reply;
    }
    long kept = add(id, new ShardCursor(replicaSet, command, answer));
    return kept == id ? reply : CursorReplies.withId(reply, kept);
  }
}
