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
 * Which requests may share a connection. A server works through one connection's requests one after
 * the other, so a slow request delays the requests behind it.
 *
 * <p>The tables below are the whole rule. A command that is in none of them gets a connection of
 * its own: aggregations and change streams, getMore, explain, commands that build, wait or scan,
 * and commands that this version does not know.
 */
final class SharingRules {
  /** Where a request may go. */
  enum Use {
    /** Among the requests of others, behind none that may wait in the server. */
    QUICK,
    /** Among the requests of others; it may wait in the server, so only its like come behind it. */
    MAY_WAIT,
    /** On a connection that nothing else uses until it is answered. */
    OWN
  }

  /**
   * The driver sends what is left of an operation's {@code timeoutMS} as {@code maxTimeMS}: a usual
   * timeout is below it, and what asks for more is known to take long.
   */
  private static final long MAX_SHARED_MILLIS = Duration.ofSeconds(10).toMillis();

  /** Commands that share, and under which options. */
  private static final Map<String, Predicate<CommandHead>> SHARED =
      Map.ofEntries(
          // A cursor without a limit goes on with getMore, and its first batch may scan.
          entry("find", c -> !c.isTailable() && !c.isLasting() && (c.hasLimit() || c.isById())),
          entry("insert", SharingRules::always),
          entry("update", c -> !c.touchesMany()),
          entry("delete", c -> !c.touchesMany()),
          entry("findAndModify", SharingRules::always),
          entry("findandmodify", SharingRules::always),
          // Without a query, the answer comes from the collection's metadata.
          entry("count", c -> !c.hasQuery()),
          entry("killCursors", SharingRules::always),
          entry("ping", SharingRules::always),
          entry("buildInfo", SharingRules::always),
          entry("buildinfo", SharingRules::always),
          entry("connectionStatus", SharingRules::always),
          entry("endSessions", SharingRules::always),
          // Without a transaction it is but an error; with one it may wait for its write concern,
          // as commitTransaction does.
          entry("abortTransaction", c -> !c.isInTransaction()));

  /** Commands that wait for a write concern, for locks, and for transactions that hold these. */
  private static final Set<String> WRITES =
      Set.of("insert", "update", "delete", "findAndModify", "findandmodify");

  private SharingRules() {}

  /**
   * Where a request may go.
   *
   * @param command null if it could not be read
   * @param maxSharedBytes size of the largest request that shares
   */
  static Use use(@Nullable CommandHead command, int maxSharedBytes) {
    try {
      return command == null || !shares(command, maxSharedBytes)
          ? Use.OWN
          : mayWait(command) ? Use.MAY_WAIT : Use.QUICK;
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      // The server says what is wrong with it.
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
   * Whether a request may wait in the server. A write does even if it says nothing of it, since its
   * write concern is then the cluster's default. Within a transaction there is nothing to wait for:
   * there, a conflict is an error. And it must not come behind a write that waits for the
   * transaction to end.
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
