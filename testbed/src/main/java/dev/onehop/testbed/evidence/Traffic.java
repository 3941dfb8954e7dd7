package dev.onehop.testbed.evidence;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The bytes of TCP payload that passed through the links, by sender and receiver. Traffic within a
 * host uses no link and does not count. Immutable: it is a snapshot.
 *
 * @param bytes the bytes by flow, without flows of zero bytes; bytes count when they are sent,
 *     before they arrive
 */
public record Traffic(Map<Flow, Long> bytes) {

  /** The sender or receiver of bytes. */
  public enum Party {
    /** An application: any peer that is not a server of the cluster. */
    CLIENT,
    /** A mongos. */
    ROUTER,
    /** A member of a shard. */
    SHARD,
    /** A config server. */
    CONFIG
  }

  /**
   * One direction between two places.
   *
   * @param fromRegion region of the sender
   * @param from kind of the sender
   * @param toRegion region of the receiver
   * @param to kind of the receiver
   */
  public record Flow(String fromRegion, Party from, String toRegion, Party to) {
    /** Whether the bytes leave their region. */
    public boolean crosses() {
      return !fromRegion.equals(toRegion);
    }

    /** Whether the sender or the receiver is of this kind. */
    public boolean touches(Party party) {
      return from == party || to == party;
    }

    /**
     * Whether the flow consists of operations and their replies: it is between an application and a
     * server, or between a mongos and a shard. Other flows are replication and the cluster's
     * metadata.
     */
    public boolean isOfOperations() {
      return touches(Party.CLIENT) || (touches(Party.ROUTER) && touches(Party.SHARD));
    }
  }

  public Traffic {
    bytes = Map.copyOf(bytes);
  }

  /** The bytes since an earlier snapshot of the same testbed. */
  public Traffic since(Traffic before) {
    Map<Flow, Long> more = new HashMap<>();
    bytes.forEach(
        (flow, sum) -> {
          long added = sum - before.bytes.getOrDefault(flow, 0L);
          if (added != 0) {
            more.put(flow, added);
          }
        });
    return new Traffic(more);
  }

  /** The sum over the selected flows. */
  public long sum(Predicate<Flow> which) {
    return bytes.entrySet().stream()
        .filter(each -> which.test(each.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
