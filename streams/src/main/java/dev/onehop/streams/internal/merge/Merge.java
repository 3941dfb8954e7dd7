package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.Tokens;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The waiting events of all shards, and the rule that decides when an event is released, that is,
 * may be emitted.
 *
 * <p>Each shard has a <em>mark</em>, a token: all events of the shard up to this token have
 * arrived. The mark is the greater of the token of the last event and the token of the last batch
 * (PBRT, post-batch resume token). It never decreases. The placement (the shards and the owners of
 * the ranges) is complete up to a cluster time, the <em>known</em> time. The last time at which the
 * placement may have changed is the <em>fence</em>. Only the waiting event with the least token can
 * be released. It is released if
 *
 * <ol>
 *   <li>its cluster time is not after the known time, and
 *   <li>the mark of each shard has reached the <em>bound</em> of the event. With total order, the
 *       bound is the event's own token. With order per key, the bound is the lesser of the event's
 *       own token and the fence. An event that concerns more than one document is always in total
 *       order.
 * </ol>
 *
 * <p>Proof of total order: no further event with a token below a shard's mark arrives from this
 * shard, and every shard that was added up to the known time is merged.
 *
 * <p>Proof of order per key: let two events of a key come first from shard D and then from shard R.
 * Between the two events the range of the key moved from D to R, with a commit on the config
 * servers. D's event is before the commit, because D stopped writes before it sent its cluster time
 * with the commit request. R's event is after the commit, because R accepts writes only after it
 * has read the commit with its time. When R's event is released, its time is not after the known
 * time, so the commit was read and the fence is not before the commit. The bound of R's event is
 * therefore above D's event. D's mark has passed the bound, so D's event was received. D's event
 * has the lesser token, so it was released before R's event. Two events of a key from one shard
 * arrive in the order of their tokens.
 *
 * <p>Not thread-safe.
 */
final class Merge {
  private final Order order;
  private final boolean placed;
  private final boolean grouped;
  private final Map<String, Lane> lanes = new HashMap<>();

  // The shards, their names and tokens in the same order. The checkpoints share the list of names.
  private Lane[] sorted = new Lane[0];
  private List<String> names = List.of();
  private String[] positions = new String[0];
  private String known;
  private @Nullable String fence;
  private String released;
  // The field _typeBits of the last released token. Usually the token has no such field.
  private @Nullable BsonValue typeBits;
  private boolean ended;

  /** The state of a shard. */
  private static final class Lane {
    private final String shard;
    private final Deque<Item> items = new ArrayDeque<>();
    private String mark;
    private String given;
    private long bytes;
    private int index;

    Lane(String shard, String after) {
      this.shard = shard;
      this.mark = after;
      this.given = after;
    }

    /** The token up to which the shard's events were emitted. */
    String position() {
      return items.isEmpty() ? mark : given;
    }
  }

  /**
   * @param placed whether the placement can change; if not, there is only one shard or replica set,
   *     or a mongos
   * @param low the token where the stream starts: all events up to this token were emitted earlier
   * @param grouped whether transactions are grouped. The events of several shards are then not in
   *     the order of their tokens, and a position needs one token per shard
   */
  Merge(Order order, boolean placed, String low, boolean grouped) {
    this.order = order;
    this.placed = placed;
    this.grouped = grouped;
    this.known = low;
    this.released = low;
  }

  /** Adds a shard. Its events after a token will be emitted. */
  void add(String shard, String after) {
    lanes.put(shard, new Lane(shard, after));
    renumber();
  }

  /** Removes a shard whose events were all emitted. */
  void remove(String shard) {
    lanes.remove(shard);
    renumber();
  }

  private void renumber() {
    names = lanes.keySet().stream().sorted().toList();
    positions = new String[names.size()];
    sorted = new Lane[positions.length];
    for (int i = 0; i < positions.length; i++) {
      Lane lane = lane(names.get(i));
      sorted[i] = lane;
      lane.index = i;
      positions[i] = lane.position();
    }
  }

  private Lane lane(String shard) {
    Lane lane = lanes.get(shard);
    if (lane == null) {
      throw new IllegalStateException("shard " + shard + " is not merged");
    }
    return lane;
  }

  /**
   * Adds a batch of a shard.
   *
   * @param items the items in the shard's order; items up to the shard's mark are ignored
   * @param batchToken the batch's token, null if the batch has no token
   */
  void received(String shard, List<Item> items, @Nullable String batchToken) {
    Lane lane = lane(shard);
    if (lane.items.isEmpty()) {
      lane.given = lane.mark;
    }
    String before = lane.mark;
    for (Item item : items) {
      if (item.token().compareTo(before) > 0) {
        lane.items.add(item);
        lane.bytes += item.bytes();
        lane.mark = Tokens.max(lane.mark, item.token());
      }
    }
    if (batchToken != null) {
      // The maximum, because a PBRT may be less than an earlier PBRT of the same shard:
      // SERVER-135099.
      lane.mark = Tokens.max(lane.mark, batchToken);
    }
    positions[lane.index] = lane.position();
  }

  /**
   * Records a read of the placement.
   *
   * @param through the cluster time up to which the placement is known
   * @param changed the last time at which the placement may have changed; null if it has not
   *     changed since the last call
   */
  void placed(BsonTimestamp through, @Nullable BsonTimestamp changed) {
    known = Tokens.max(known, Tokens.after(through));
    if (changed != null) {
      String at = Tokens.after(changed);
      fence = fence == null ? at : Tokens.max(fence, at);
    }
  }

  /** The next event that may be released; null if there is none now. */
  @Nullable StreamEvent poll() {
    Lane least = least();
    if (least == null || ended || isUnplaced(least)) {
      return null;
    }
    Item item = least.items.element();
    String bound = bound(item);
    for (Lane lane : sorted) {
      if (lane.mark.compareTo(bound) < 0) {
        return null;
      }
    }
    least.items.remove();
    least.bytes -= item.bytes();
    least.given = item.token();
    positions[least.index] = least.position();
    released(item);
    ended = isEnd(item);
    return item.at(least.shard, checkpoint());
  }

  private void released(Item item) {
    if (isSinglePlace() && item.token().compareTo(released) >= 0) {
      typeBits = ShardReader.TYPE_BITS.value(item.event());
    }
    released = Tokens.max(released, item.token());
  }

  /**
   * Whether one token describes the position in all shards. This is so if the events are emitted in
   * the order of their tokens, or come from one stream.
   */
  private boolean isSinglePlace() {
    return (order == Order.TOTAL && !grouped) || !placed;
  }

  private @Nullable Lane least() {
    Lane least = null;
    for (Lane lane : sorted) {
      Item head = lane.items.peek();
      if (head != null
          && (least == null || head.token().compareTo(least.items.element().token()) < 0)) {
        least = lane;
      }
    }
    return least;
  }

  private boolean isUnplaced(Lane least) {
    return placed && least.items.element().token().compareTo(known) > 0;
  }

  /**
   * The bound that each shard's mark must have reached before the item is released. The empty
   * string means no bound.
   */
  private String bound(Item item) {
    if (order == Order.TOTAL || item.kind() == Item.Kind.WIDE || isEnd(item)) {
      return item.token();
    }
    return fence == null ? "" : Tokens.min(fence, item.token());
  }

  private static boolean isEnd(Item item) {
    return item.kind() == Item.Kind.INVALIDATE || item.kind() == Item.Kind.END;
  }

  /** Whether an event waits for the config servers. */
  boolean waitsForPlacement() {
    Lane least = least();
    return least != null && isUnplaced(least);
  }

  /** The shards for which an event waits, even if it also waits for the config servers. */
  List<String> holders() {
    Lane least = least();
    if (least == null) {
      return List.of();
    }
    String bound = bound(least.items.element());
    List<String> holders = new ArrayList<>();
    for (Lane lane : sorted) {
      if (lane.mark.compareTo(bound) < 0) {
        holders.add(lane.shard);
      }
    }
    return holders;
  }

  /** The greatest mark of all shards. */
  String furthest() {
    return lanes.values().stream().map(lane -> lane.mark).reduce("", Tokens::max);
  }

  /**
   * The shards that hold back the position. These are the shards for which the next event waits. If
   * no event has arrived, these are the shards with the least mark.
   */
  List<String> laggards() {
    List<String> holders = holders();
    if (!holders.isEmpty() || least() != null) {
      return holders;
    }
    String low = lanes.values().stream().map(lane -> lane.mark).reduce(known, Tokens::min);
    return lanes.values().stream()
        .filter(lane -> lane.mark.equals(low))
        .map(lane -> lane.shard)
        .toList();
  }

  /** The shards that are merged. */
  List<String> names() {
    return names;
  }

  /** Whether the last event of the whole stream was emitted. */
  boolean isEnded() {
    return ended;
  }

  /** The token after which a shard's stream continues. */
  String mark(String shard) {
    return lane(shard).mark;
  }

  /** The bytes of a shard's waiting events. */
  long bytes(String shard) {
    return lane(shard).bytes;
  }

  /** Whether a shard has no waiting events. */
  boolean isEmpty(String shard) {
    return lane(shard).items.isEmpty();
  }

  /**
   * Skips the lost events of a shard.
   *
   * @param to the cluster time at which its events continue
   */
  void skip(String shard, BsonTimestamp to) {
    received(shard, List.of(), Tokens.highWater(to));
  }

  /** The position up to which all events were emitted. */
  Checkpoint checkpoint() {
    if (isSinglePlace()) {
      if (least() == null && !ended) {
        String low = placed ? known : null;
        for (Lane lane : sorted) {
          low = low == null ? lane.mark : Tokens.min(low, lane.mark);
        }
        if (low != null && low.compareTo(released) > 0) {
          released = low;
          typeBits = null;
        }
      }
      return typeBits == null
          ? Checkpoint.at(released)
          : Checkpoint.ofResumeToken(
              new BsonDocument("_data", new BsonString(released)).append("_typeBits", typeBits));
    }
    return Checkpoint.of(names, positions.clone(), known);
  }
}
