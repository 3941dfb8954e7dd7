package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoCommandException;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;

/**
 * Logs why operations are not routed. Each reason is logged once, regardless of the number of
 * operations and collections.
 *
 * <p>Thread-safe.
 */
final class UnroutedNotice {
  private static final int MOST_COLLECTIONS = 1_000;

  private final Logger log;
  private final AtomicBoolean saidNotSharded = new AtomicBoolean();
  private final AtomicBoolean saidUnauthorized = new AtomicBoolean();
  // By collection, the last logged reason. If there are too many entries, the oldest are removed.
  // The reason of a removed entry may be logged again.
  private final Map<String, String> saidOfNamespace =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
              return size() > MOST_COLLECTIONS;
            }
          });

  UnroutedNotice(Logger log) {
    this.log = log;
  }

  /** Called if a collection has no routing table. */
  void noTable(String namespace, Throwable reason) {
    if (reason instanceof NotShardedException) {
      if (saidNotSharded.compareAndSet(false, true)) {
        log.warn("{}: nothing will be routed", reason.getMessage());
      }
    } else if (isUnauthorized(reason)) {
      if (saidUnauthorized.compareAndSet(false, true)) {
        log.warn(
            "nothing will be routed: the user may not read the routing metadata. Missing"
                + " privilege: action find on the database config. The role read on config"
                + " includes this privilege ({})",
            reason instanceof MongoCommandException refused
                ? refused.getErrorMessage()
                : reason.getMessage());
      }
    } else {
      String message = String.valueOf(reason.getMessage());
      if (!message.equals(saidOfNamespace.put(namespace, message))) {
        log.info(
            "{}: no routing table, operations go to the nearest mongos: {}", namespace, message);
      }
    }
  }

  private static boolean isUnauthorized(Throwable reason) {
    return reason instanceof MongoCommandException refused
        ? refused.getErrorCode() == ErrorCodes.UNAUTHORIZED
        : reason instanceof CommandFailure failure && failure.code() == ErrorCodes.UNAUTHORIZED;
  }
}
