package dev.onehop.streams.internal.merge;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.internal.token.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Groups the events of each transaction of one shard. All events of a transaction on one shard have
 * the same cluster time, because they come from one entry of the oplog, or from a chain of entries
 * whose last entry gives the time. No other event of the shard comes between them. A transaction is
 * therefore complete when another event follows, when the shard has reached a later time, or when
 * the shard has no more events.
 *
 * <p>A group has the token of its last event, so that the {@link Merge} treats it as one event. If
 * another shard has events with tokens between the first and the last token of the group, these
 * events are emitted before the group. The group's own shard has no such events.
 *
 * <p>Not thread-safe.
 */
final class Transactions {
  private static final BsonPath SESSION = BsonPath.of("lsid");
  private static final BsonPath NUMBER = BsonPath.of("txnNumber");

  private final long mostBytes;
  private List<Item> parts = new ArrayList<>();
  private @Nullable Id open;
  private long bytes;
  private String taken;

  private record Id(BsonTimestamp time, BsonValue session, BsonValue number) {}

  /**
   * @param after the token up to which all events were emitted before
   * @param mostBytes the largest size of a group in bytes
   */
  Transactions(String after, long mostBytes) {
    this.taken = after;
    this.mostBytes = mostBytes;
  }

  /** Whether events wait because their transaction may be incomplete. */
  boolean areOpen() {
    return open != null;
  }

  /**
   * Adds a batch.
   *
   * @param items the items in the shard's order; items that were added before are ignored
   * @param reached the token that the shard has reached after these items, null if unknown
   * @param all whether the shard has sent all events up to now
   * @return the items that need not wait, in the same order; the events of a transaction are one
   *     item
   */
  List<Item> take(List<Item> items, @Nullable String reached, boolean all) {
    List<Item> complete = new ArrayList<>(items.size());
    for (Item item : items) {
      if (item.token().compareTo(taken) > 0) {
        taken = item.token();
        add(item, complete);
      }
    }
    boolean passed =
        open != null && reached != null && Tokens.clusterTime(reached).compareTo(open.time()) > 0;
    if (all || passed) {
      end(Item.Kind.TRANSACTION, complete);
    }
    return complete;
  }

  private void add(Item item, List<Item> complete) {
    Id id = id(item);
    boolean same = id != null && id.equals(open);
    boolean apart = item.kind() != Item.Kind.EVENT;
    if (!same) {
      end(Item.Kind.TRANSACTION, complete);
    } else if (apart || bytes + item.bytes() > mostBytes) {
      end(Item.Kind.TRANSACTION_PART, complete);
    }
    if (id == null || apart) {
      complete.add(item);
      return;
    }
    open = id;
    parts.add(item);
    bytes += item.bytes();
  }

  private static @Nullable Id id(Item item) {
    BsonValue number = NUMBER.value(item.event());
    BsonValue session = number == null ? null : SESSION.value(item.event());
    return number == null || session == null
        ? null
        : new Id(Tokens.clusterTime(item.token()), session, number);
  }

  /** Returns the waiting events of an incomplete transaction, if there is one. */
  List<Item> rest() {
    List<Item> rest = new ArrayList<>();
    end(Item.Kind.TRANSACTION_PART, rest);
    return rest;
  }

  private void end(Item.Kind kind, List<Item> complete) {
    if (open == null) {
      return;
    }
    Item last = parts.get(parts.size() - 1);
    complete.add(
        new Item(last.token(), last.event(), kind, parts.get(0).receivedNanos(), parts, bytes));
    parts = new ArrayList<>();
    bytes = 0;
    open = null;
  }
}
