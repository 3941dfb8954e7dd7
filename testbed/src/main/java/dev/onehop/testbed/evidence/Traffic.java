package dev.onehop.testbed.evidence;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * How many bytes of TCP payload the links have carried, by where they came from and where they
 * went. What stays on a host passes no link and is not in it. A snapshot; immutable.
 *
 * @param bytes by flow, none of them zero; from what was sent, whether or not it has arrived
 */
public record Traffic(Map<Flow, Long> bytes) {

  /** Who sends or receives. */
  public enum Party {
    /** An application: any peer that is no server of the cluster. */
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
   * @param from what the sender is
   * @param toRegion region of the receiver
   * @param to what the receiver is
   */
  public record Flow(String fromRegion, Party from, String toRegion, Party to) {
    /** Whether the bytes leave their region. */
    public boolean crosses() {
      return !fromRegion.equals(toRegion);
    }

    /** Whether one of the two is this. */
    public boolean touches(Party party) {
      return from == party || to == party;
    }

    /**
     * Whether it is between an application and a server, or between a mongos and a shard:
     * operations and their answers. The rest is replication, and the cluster's metadata.
     */
    public boolean isOfOperations() {
      return touches(Party.CLIENT) || (touches(Party.ROUTER) && touches(Party.SHARD));
    }
  }

  /** A copy of the map. */
  public Traffic {
    bytes = Map.copyOf(bytes);
  }

  /** What has come since an earlier snapshot of the same testbed. */
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

  /** The sum over some flows. */
  public long sum(Predicate<Flow> which) {
    return bytes.entrySet().stream()
        .filter(each -> which.test(each.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
