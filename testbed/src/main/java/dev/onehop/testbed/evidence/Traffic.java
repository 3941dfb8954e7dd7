package dev.onehop.testbed.evidence;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The bytes of TCP payload that the links have carried, by origin and destination. Traffic within a
 * host crosses no link and does not count. A snapshot; immutable.
 *
 * @param bytes by flow, none of them zero; counted when sent, whether or not they have arrived
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
     * Whether the flow is between an application and a server, or between a mongos and a shard:
     * operations and their replies. Other flows are replication and the cluster's metadata.
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
