package dev.onehop.routing.internal.transport;

import static java.util.Map.entry;

import dev.onehop.routing.transport.PipeliningSettings;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Which requests may share a socket. A server works through one socket's requests one after the
 * other, so what may take long would hold up whoever comes behind it.
 *
 * <p>A request that may wait for others is shared among its like only: see {@link #mayWait}.
 *
 * <p>The tables below are the whole rule. A command that is in none of them gets a socket of its
 * own: aggregations and change streams, getMore, explain, commands that build, wait or scan, and
 * commands that this version does not know.
 */
final class SharingRules {
  /** Where a request may go. */
  enum Use {
    /** Among the requests of others. */
    SHARED,
    /** On a socket that nobody else uses until it is answered. */
    OWN,
    /** A hello, whose place depends on who says it. */
    HELLO,
    /** A step of an authentication, which belongs to a socket. */
    AUTHENTICATION,
    /** It would change the socket under everybody on it. */
    REFUSED
  }

  /** Commands that share, and under which options. */
  private static final Map<String, Predicate<CommandHead>> SHARED =
      Map.ofEntries(
          // A cursor without a limit goes on with getMore, and its first batch may scan.
          entry("find", c -> !c.isTailable() && (hasLimit(c) || c.isById())),
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

  private static final Set<String> HELLO = Set.of("hello", "isMaster", "ismaster");

  private static final Set<String> AUTHENTICATION =
      Set.of("saslStart", "saslContinue", "authenticate");

  /** Mechanisms under which the same user may authenticate again on an authenticated socket. */
  private static final Set<String> REPEATABLE_MECHANISMS =
      Set.of("SCRAM-SHA-1", "SCRAM-SHA-256", "MONGODB-X509");

  private static final Set<String> REFUSED = Set.of("logout");

  private final long maxSharedMillis;
  private final int maxSharedBytes;

  SharingRules(PipeliningSettings settings) {
    this.maxSharedMillis = settings.maxSharedTime().toMillis();
    this.maxSharedBytes = settings.maxSharedBytes();
  }

  Use use(CommandHead command) {
    String name = command.name();
    if (REFUSED.contains(name)) {
      return Use.REFUSED;
    }
    if (AUTHENTICATION.contains(name)) {
      return Use.AUTHENTICATION;
    }
    if (HELLO.contains(name)) {
      return Use.HELLO;
    }
    Predicate<CommandHead> shares = SHARED.get(name);
    return shares != null
            && command.isReadable()
            && !command.allowsExhaust()
            && !command.waitsForMembers()
            && command.maxTimeMillis() <= maxSharedMillis
            && command.bytes() <= maxSharedBytes
            && shares.test(command)
        ? Use.SHARED
        : Use.OWN;
  }

  /**
   * Whether a request that shares may wait in the server, so that only its like may come behind it.
   * A write does even if it says nothing of it, since its write concern is then the cluster's
   * default. Within a transaction there is nothing to wait for: there, a conflict is an error. And
   * it must not come behind a write that waits for the transaction to end.
   */
  static boolean mayWait(CommandHead command) {
    String name = command.name();
    return (WRITES.contains(name) && !command.isInTransaction())
        || command.waitsForTime()
        || (name.equals("find") && command.maxTimeMillis() > 0 && !command.isById());
  }

  static boolean isRepeatable(String mechanism) {
    return REPEATABLE_MECHANISMS.contains(mechanism);
  }

  private static boolean always(CommandHead command) {
    return true;
  }

  private static boolean hasLimit(CommandHead find) {
    return find.limit() != 0 || find.isSingleBatch();
  }
}
