package dev.onehop.wire.connection;

import static java.util.Map.entry;

import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.CommandHead;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests may share a connection. A server executes the requests of one connection
 * one after another, so a slow request delays the requests behind it.
 *
 * <p>The tables below contain all rules. Any other command gets a separate connection: aggregations
 * and change streams, getMore, explain, commands that build indexes, wait, or scan documents, and
 * commands that are unknown to this version.
 */
final class SharingRules {
  /** The kind of connection for a request. */
  enum Use {
    /** A shared connection on which no earlier request may wait in the server. */
    QUICK,
    /**
     * A shared connection. The request may wait in the server, so only requests of the same kind
     * follow it.
     */
    MAY_WAIT,
    /** A connection that serves no other request before the reply. */
    OWN
  }

  /**
   * A request with a greater {@code maxTimeMS} is expected to take long, so it does not share a
   * connection. Usual timeouts are below this limit: the driver sends the rest of an operation's
   * {@code timeoutMS} as {@code maxTimeMS}.
   */
  private static final long MAX_SHARED_MILLIS = Duration.ofSeconds(10).toMillis();

  /** The commands that may use a shared connection, each with a condition on its options. */
  private static final Map<String, Predicate<CommandHead>> SHARED =
      Map.ofEntries(
          // A find without a limit does not share: it continues with getMore, and the server may
          // scan many documents for the first batch.
          entry("find", c -> !c.isTailable() && !c.isLasting() && (c.hasLimit() || c.isById())),
          entry("insert", SharingRules::always),
          entry("update", c -> !c.touchesMany()),
          entry("delete", c -> !c.touchesMany()),
          entry("findAndModify", SharingRules::always),
          entry("findandmodify", SharingRules::always),
          // Without a query, the server answers from the collection's metadata.
          entry("count", c -> !c.hasQuery()),
          entry("killCursors", SharingRules::always),
          entry("ping", SharingRules::always),
          entry("buildInfo", SharingRules::always),
          entry("buildinfo", SharingRules::always),
          entry("connectionStatus", SharingRules::always),
          entry("endSessions", SharingRules::always),
          // Without a transaction, the server returns an error at once. In a transaction, the
          // command may wait for its write concern, as commitTransaction does.
          entry("abortTransaction", c -> !c.isInTransaction()));

  /**
   * The commands that wait for a write concern, for locks, and for transactions that hold locks.
   */
  private static final Set<String> WRITES =
      Set.of("insert", "update", "delete", "findAndModify", "findandmodify");

  private SharingRules() {}

  /**
   * The kind of connection for a request.
   *
   * @param command the command; null if it could not be parsed
   * @param maxSharedBytes the size in bytes of the largest request on a shared connection
   */
  static Use use(@Nullable CommandHead command, int maxSharedBytes) {
    try {
      return command == null || !shares(command, maxSharedBytes)
          ? Use.OWN
          : mayWait(command) ? Use.MAY_WAIT : Use.QUICK;
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      // The server returns the error.
      return Use.OWN;
    }
  }

  private static boolean shares(CommandHead command, int maxSharedBytes) {
    Predicate<CommandHead> shares = SHARED.get(command.name());
    return shares != null
        && command.expectsReply()
        && !command.allowsExhaust()
        && command.maxTimeMillis() <= MAX_SHARED_MILLIS
        && command.bytes() <= maxSharedBytes
        && !command.waitsForMembers()
        && shares.test(command);
  }

  /**
   * Whether a request may wait in the server. A write may wait even without a write concern,
   * because the cluster's default applies. A write in a transaction does not wait, because the
   * server returns an error for a conflict. Such a write must also not be sent behind a write that
   * waits for the end of the same transaction. Otherwise both would wait for each other.
   */
  private static boolean mayWait(CommandHead command) {
    String name = command.name();
    return (WRITES.contains(name) && !command.isInTransaction())
        || command.waitsForTime()
        || (name.equals("find") && command.maxTimeMillis() > 0 && !command.isById());
  }

  private static boolean always(CommandHead command) {
    return true;
  }
}
