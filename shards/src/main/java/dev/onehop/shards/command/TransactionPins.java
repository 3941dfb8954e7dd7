package dev.onehop.shards.command;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.OpMsg;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The mongos at which each session's transaction has begun. An entry is kept until the session
 * begins another transaction or ends, because the driver may send the commit again. If there are
 * more than {@value #MOST} entries, the oldest are dropped.
 *
 * <p>Thread-safe.
 */
public final class TransactionPins {
  private static final int MOST = 10_000;

  private final Map<BsonValue, Pin> bySession =
      new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<BsonValue, Pin> eldest) {
          return size() > MOST;
        }
      };

  private record Pin(BsonValue number, ServerAddressName mongos) {}

  /** The mongos of a command's transaction; null if it is not known. */
  public @Nullable ServerAddressName of(OpMsg command) {
    return of(command.body().get("lsid"), command.body().get("txnNumber"));
  }

  /** The mongos of a session's transaction; null if it is not known. */
  public synchronized @Nullable ServerAddressName of(
      @Nullable BsonValue session, @Nullable BsonValue number) {
    Pin pin = bySession.get(session);
    return pin != null && pin.number().equals(number) ? pin.mongos() : null;
  }

  /** Sets the mongos of a command's transaction. */
  public void pin(OpMsg command, ServerAddressName mongos) {
    BsonDocument body = command.body();
    if (body.containsKey("lsid") && body.containsKey("txnNumber")) {
      pin(body.get("lsid"), body.get("txnNumber"), mongos);
    }
  }

  /** Sets the mongos of a session's transaction. */
  public synchronized void pin(BsonValue session, BsonValue number, ServerAddressName mongos) {
    bySession.put(session, new Pin(number, mongos));
  }

  /** Removes the entry of a command's transaction. */
  public void unpin(OpMsg command) {
    unpin(command.body().get("lsid"), command.body().get("txnNumber"));
  }

  /** Removes the entry of a session's transaction, unless the session has begun another one. */
  public synchronized void unpin(@Nullable BsonValue session, @Nullable BsonValue number) {
    if (of(session, number) != null) {
      bySession.remove(session);
    }
  }

  /** Removes the entries of sessions that have ended. */
  public synchronized void forget(Collection<? extends BsonValue> sessions) {
    sessions.forEach(bySession::remove);
  }
}
