package dev.onehop.streams.internal.merge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.streams.internal.token.Tokens;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.bson.BsonInt64;
import org.junit.jupiter.api.Test;

class TransactionsTest {
  private static final String BEGIN = Events.highWater(1);
  private static final long UNLIMITED = Long.MAX_VALUE;

  private int number;

  @Test
  void waitsForEventAfterTransaction() {
    Transactions transactions = new Transactions(BEGIN, UNLIMITED);
    assertThat(transactions.take(List.of(plain(5), part(6, 1), part(6, 1)), null, false))
        .extracting(Item::kind)
        .containsExactly(Item.Kind.EVENT);
    assertThat(transactions.areOpen()).isTrue();
    List<Item> complete = transactions.take(List.of(part(6, 1), part(7, 2)), null, false);
    assertThat(complete).singleElement().satisfies(item -> assertThat(item.parts()).hasSize(3));
    assertThat(complete.get(0).kind()).isEqualTo(Item.Kind.TRANSACTION);
    assertThat(complete.get(0).token())
        .isEqualTo(complete.get(0).parts().get(2).token())
        .isGreaterThan(complete.get(0).parts().get(1).token());
  }

  @Test
  void completesTransactionAfterItsTimeOrAtOplogEnd() {
    Transactions passed = new Transactions(BEGIN, UNLIMITED);
    Item last = part(6, 1);
    assertThat(passed.take(List.of(last), last.token(), false)).isEmpty();
    assertThat(passed.take(List.of(), Events.highWater(6), false)).isEmpty();
    assertThat(passed.take(List.of(), Events.highWater(7), false)).hasSize(1);
    assertThat(passed.areOpen()).isFalse();
    Transactions idle = new Transactions(BEGIN, UNLIMITED);
    assertThat(idle.take(List.of(part(6, 1)), null, false)).isEmpty();
    assertThat(idle.take(List.of(), null, true)).hasSize(1);
  }

  @Test
  void separatesTransactionsOfSameSessionOrTime() {
    Transactions transactions = new Transactions(BEGIN, UNLIMITED);
    List<Item> complete =
        transactions.take(List.of(part(6, 1), part(7, 1), part(7, 2)), null, true);
    assertThat(complete).extracting(item -> item.parts().size()).containsExactly(1, 1, 1);
  }

  @Test
  void emitsTooLargeEventSeparately() {
    Transactions transactions = new Transactions(BEGIN, UNLIMITED);
    Item found = part(6, 1);
    Item large = new Item(found.token(), Events.copy(found.event()), Item.Kind.TOO_LARGE, 0);
    Item before = part(6, 1);
    Item after = part(6, 1);
    List<Item> items = new ArrayList<>();
    // The large event was created first and has the least token.
    items.add(large);
    items.add(before);
    items.add(after);
    assertThat(transactions.take(items, null, true))
        .extracting(Item::kind)
        .containsExactly(Item.Kind.TOO_LARGE, Item.Kind.TRANSACTION);
    Item first = part(8, 2);
    Item second = part(8, 2);
    Item third = part(8, 2);
    Item tooLarge = new Item(second.token(), Events.copy(second.event()), Item.Kind.TOO_LARGE, 0);
    assertThat(transactions.take(List.of(first, tooLarge, third), null, true))
        .extracting(Item::kind)
        .containsExactly(Item.Kind.TRANSACTION_PART, Item.Kind.TOO_LARGE, Item.Kind.TRANSACTION);
  }

  @Test
  void keepsTransactionsWholeForAnyBatches() {
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      List<Item> oplog = oplog(random);
      List<Item> given = new ArrayList<>();
      Transactions transactions = new Transactions(BEGIN, UNLIMITED);
      int read = 0;
      while (read < oplog.size() || transactions.areOpen()) {
        int until = Math.min(oplog.size(), read + random.nextInt(5));
        boolean idle = until == read && read == oplog.size();
        given.addAll(transactions.take(oplog.subList(read, until), null, idle));
        read = until;
        if (random.nextInt(10) == 0) {
          // Another process continues after the emitted events. The shard's stream starts with all
          // events of their cluster time.
          String after = given.isEmpty() ? BEGIN : given.get(given.size() - 1).token();
          transactions = new Transactions(after, UNLIMITED);
          String from = Tokens.highWater(Tokens.clusterTime(after));
          read = 0;
          while (read < oplog.size() && oplog.get(read).token().compareTo(from) < 0) {
            read++;
          }
        }
      }
      check("seed " + seed, oplog, given);
    }
  }

  private static void check(String what, List<Item> oplog, List<Item> given) {
    Map<Long, Integer> sizes = new HashMap<>();
    oplog.forEach(item -> sizes.merge(transaction(item), 1, Integer::sum));
    List<Item> flat = new ArrayList<>();
    for (Item item : given) {
      if (item.kind() == Item.Kind.TRANSACTION) {
        assertThat(item.parts()).as(what).hasSize(sizes.get(transaction(item)));
        flat.addAll(item.parts());
      } else {
        assertThat(transaction(item)).as(what).isZero();
        flat.add(item);
      }
    }
    assertThat(flat).as(what).isEqualTo(oplog);
  }

  private List<Item> oplog(Random random) {
    List<Item> oplog = new ArrayList<>();
    number = 0;
    for (int time = 2; time < 20; time++) {
      if (random.nextBoolean()) {
        oplog.add(plain(time));
      } else {
        int size = 1 + random.nextInt(6);
        for (int i = 0; i < size; i++) {
          oplog.add(part(time, time));
        }
      }
    }
    return oplog;
  }

  /** The number of the transaction; 0 for none. */
  private static long transaction(Item item) {
    return item.event().getNumber("txnNumber", new BsonInt64(0)).longValue();
  }

  private Item plain(long time) {
    return Events.item(Events.insert(time, "a", 0, ++number));
  }

  private Item part(long time, long transaction) {
    return Events.item(Events.inTransaction(Events.insert(time, "a", 0, ++number), transaction));
  }
}
