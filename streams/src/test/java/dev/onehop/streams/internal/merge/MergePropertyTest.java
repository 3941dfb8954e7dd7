package dev.onehop.streams.internal.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.internal.token.Tokens;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the merge with random clusters. Each shard has its own clock, which follows the other
 * clocks only now and then. Keys move between shards, shards are added, readers are behind, tokens
 * of batches decrease, and streams restart from checkpoints.
 */
class MergePropertyTest {
  private static final int SEEDS = 1_500;
  private static final int STEPS = 400;

  @ParameterizedTest
  @CsvSource({"PER_KEY, false", "PER_KEY, true", "TOTAL, false", "TOTAL, true"})
  void emitsEachEventOnceInOrder(Order order, boolean grouped) {
    for (int seed = 0; seed < SEEDS; seed++) {
      Run run = new Run(order, seed, true, grouped);
      run.play();
      run.check("seed " + seed);
    }
  }

  @Test
  void checkDetectsWrongOrderIfMovesAreIgnored() {
    int found = 0;
    for (int seed = 0; seed < SEEDS && found == 0; seed++) {
      Run run = new Run(Order.PER_KEY, seed, false, false);
      run.play();
      try {
        run.check("seed " + seed);
      } catch (AssertionError e) {
        found++;
      }
    }
    assertThat(found).isPositive();
  }

  @Test
  void checkDetectsDroppedDuplicatedOrSwappedEvent() {
    for (Order order : Order.values()) {
      Run run = new Run(order, 7, true, false);
      run.play();
      List<StreamEvent.Change> right = List.copyOf(run.given);
      assertThat(right).hasSizeGreaterThan(10);
      run.given.remove(3);
      assertThatThrownBy(() -> run.check("dropped")).isInstanceOf(AssertionError.class);
      run.given.clear();
      run.given.addAll(right);
      run.given.add(5, right.get(4));
      assertThatThrownBy(() -> run.check("doubled")).isInstanceOf(AssertionError.class);
      run.given.clear();
      run.given.addAll(right);
      swapTwoOfOneKey(run.given);
      assertThatThrownBy(() -> run.check("swapped")).isInstanceOf(AssertionError.class);
    }
  }

  private static void swapTwoOfOneKey(List<StreamEvent.Change> given) {
    for (int i = 0; i < given.size(); i++) {
      for (int j = i + 1; j < given.size(); j++) {
        if (key(given.get(i)) == key(given.get(j))) {
          Collections.swap(given, i, j);
          return;
        }
      }
    }
    throw new AssertionError("no key has two events");
  }

  private static int key(StreamEvent.Change change) {
    return change.document().getDocument("documentKey").getInt32("_id").getValue();
  }

  /** A shard with its clock and its oplog. */
  private static final class Shard {
    final String name;
    final List<RawBsonDocument> oplog = new ArrayList<>();
    long clock;
    int read;
    Transactions transactions;

    Shard(String name, long clock) {
      this.name = name;
      this.clock = clock;
    }
  }

  private static final class Run {
    private static final int KEYS = 6;

    final Order order;
    final boolean movesAreSeen;
    final boolean grouped;
    final Random random;
    final Map<String, Shard> shards = new TreeMap<>();
    final String[] owners = new String[KEYS];
    final int[] writes = new int[KEYS];
    final List<RawBsonDocument> written = new ArrayList<>();
    final List<StreamEvent.Change> given = new ArrayList<>();
    final List<String> tokens = new ArrayList<>();
    final Map<String, Integer> parts = new HashMap<>();
    Merge merge;
    int transactions;
    long configClock = 100;
    int moves;
    int movesSeen;
    long through = 100;
    Checkpoint last = Checkpoint.before(Events.at(101));

    Run(Order order, int seed, boolean movesAreSeen, boolean grouped) {
      this.order = order;
      this.movesAreSeen = movesAreSeen;
      this.grouped = grouped;
      this.random = new Random(seed);
      int count = 1 + random.nextInt(3);
      for (int i = 0; i < count; i++) {
        String name = String.valueOf((char) ('a' + i));
        shards.put(name, new Shard(name, 100));
      }
      for (int key = 0; key < KEYS; key++) {
        owners[key] = any().name;
      }
      merge = new Merge(order, true, last.low(), grouped);
      shards.values().forEach(shard -> add(shard, last.token(shard.name)));
      merge.placed(Events.at(through), null);
    }

    private void add(Shard shard, String after) {
      merge.add(shard.name, after);
      shard.transactions = new Transactions(after, Long.MAX_VALUE);
    }

    Shard any() {
      return List.copyOf(shards.values()).get(random.nextInt(shards.size()));
    }

    void play() {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(13)) {
          case 0, 1, 2, 3 -> write();
          case 4 -> move();
          case 5, 6 -> receive(any());
          case 7 -> place();
          case 8 -> advance(any());
          case 9 -> gossip();
          case 12 -> transact();
          case 10 -> {
            if (random.nextInt(20) == 0) {
              addShard();
            } else if (random.nextInt(10) == 0) {
              restart();
            }
          }
          default -> give(random.nextInt(4));
        }
      }
      finish();
    }

    private void write() {
      int key = random.nextInt(KEYS);
      Shard shard = shards.get(owners[key]);
      shard.clock += 1 + random.nextInt(2);
      RawBsonDocument event = Events.insert(shard.clock, shard.name, key, ++writes[key]);
      shard.oplog.add(event);
      written.add(event);
    }

    /**
     * A transaction of several keys. The shards commit at the same time, or one of them commits
     * later.
     */
    private void transact() {
      long time = 0;
      List<Integer> keys = new ArrayList<>();
      for (int i = 0; i < 1 + random.nextInt(5); i++) {
        keys.add(random.nextInt(KEYS));
      }
      for (int key : keys) {
        time = Math.max(time, shards.get(owners[key]).clock);
      }
      time++;
      transactions++;
      Map<String, Long> commits = new HashMap<>();
      int index = 0;
      long first = time;
      for (int key : keys) {
        Shard shard = shards.get(owners[key]);
        long commit = commits.computeIfAbsent(shard.name, name -> first + random.nextInt(2));
        shard.clock = commit;
        int value = ++writes[key];
        RawBsonDocument event =
            Events.inTransaction(
                Events.event(
                    Events.partToken(commit, ++index, shard.name, written.size()),
                    "insert",
                    key,
                    value),
                transactions);
        shard.oplog.add(event);
        written.add(event);
        parts.merge(shard.name + transactions, 1, Integer::sum);
      }
    }

    /**
     * Moves a key to another shard. The config server receives the donor's time with the commit.
     * The recipient reads this time from the config server.
     */
    private void move() {
      int key = random.nextInt(KEYS);
      Shard donor = shards.get(owners[key]);
      Shard recipient = any();
      if (recipient == donor) {
        return;
      }
      configClock = Math.max(configClock, donor.clock) + 1;
      recipient.clock = Math.max(recipient.clock, configClock);
      owners[key] = recipient.name;
      moves++;
    }

    private void addShard() {
      if (shards.size() < 5) {
        String name = String.valueOf((char) ('a' + shards.size()));
        configClock++;
        shards.put(name, new Shard(name, configClock));
        moves++;
      }
    }

    private long latest() {
      return Math.max(
          configClock,
          shards.values().stream().mapToLong(shard -> shard.clock).max().orElseThrow());
    }

    private void gossip() {
      Shard shard = any();
      shard.clock = Math.max(shard.clock, any().clock);
    }

    private void advance(Shard shard) {
      shard.clock = Math.max(shard.clock, latest()) + 1;
    }

    private void receive(Shard shard) {
      if (!merge.names().contains(shard.name)) {
        return;
      }
      int until = shard.read + random.nextInt(shard.oplog.size() - shard.read + 1);
      List<Item> items = new ArrayList<>();
      for (RawBsonDocument event : shard.oplog.subList(shard.read, until)) {
        items.add(Events.item(event));
      }
      shard.read = until;
      String token = null;
      if (until == shard.oplog.size()) {
        token = Events.highWater(shard.clock + 1);
      }
      if (random.nextInt(5) == 0) {
        // The token is less than an earlier token of the server.
        token = Events.highWater(101);
      }
      hand(shard, items, token, items.isEmpty() && until == shard.oplog.size());
    }

    private void hand(Shard shard, List<Item> items, String token, boolean all) {
      if (!grouped) {
        merge.received(shard.name, items, token);
        return;
      }
      List<Item> complete = shard.transactions.take(items, token, all);
      merge.received(shard.name, complete, shard.transactions.areOpen() ? null : token);
    }

    private void place() {
      long asked = latest() - random.nextInt(3);
      configClock = Math.max(configClock, asked) + random.nextInt(2);
      for (Shard shard : shards.values()) {
        if (!merge.names().contains(shard.name)) {
          add(shard, Events.highWater(through + 1));
        }
      }
      boolean changed = movesSeen != moves && movesAreSeen;
      movesSeen = moves;
      through = Math.max(through, asked);
      merge.placed(Events.at(asked), changed ? Events.at(Math.max(asked, configClock)) : null);
    }

    private void give(int most) {
      for (int i = 0; i < most; i++) {
        StreamEvent next = merge.poll();
        if (next == null) {
          return;
        }
        assertNotBehindLast(next.checkpoint());
        collect(next);
      }
      if (random.nextInt(3) == 0) {
        assertNotBehindLast(merge.checkpoint());
      }
    }

    private void collect(StreamEvent event) {
      if (event instanceof StreamEvent.Transaction transaction) {
        List<StreamEvent.Change> changes = transaction.changes();
        assertThat(changes).hasSize(parts.get(transaction.shard() + transaction.txnNumber()));
        given.addAll(changes);
        tokens.add(changes.get(changes.size() - 1).token());
      } else {
        StreamEvent.Change change = (StreamEvent.Change) event;
        given.add(change);
        tokens.add(change.token());
      }
    }

    private void assertNotBehindLast(Checkpoint next) {
      for (String shard : shards.keySet()) {
        assertThat(next.token(shard)).isGreaterThanOrEqualTo(last.token(shard));
      }
      assertThat(next.low()).isGreaterThanOrEqualTo(last.low());
      last = next;
    }

    /** Continues as another process, which has only the checkpoint. */
    private void restart() {
      Checkpoint from = Checkpoint.parse(last.toDocument());
      assertThat(from).isEqualTo(last);
      merge = new Merge(order, true, from.low(), grouped);
      long asked = latest();
      configClock = Math.max(configClock, asked);
      through = asked;
      movesSeen = moves;
      for (Shard shard : shards.values()) {
        add(shard, from.token(shard.name));
        long time = Tokens.clusterTime(from.token(shard.name)).getValue();
        shard.read = 0;
        while (shard.read < shard.oplog.size()
            && Events.item(shard.oplog.get(shard.read)).token().compareTo(Events.highWater(time))
                < 0) {
          shard.read++;
        }
      }
      merge.placed(Events.at(asked), Events.at(configClock));
    }

    private void finish() {
      for (int round = 0; round < 5; round++) {
        shards.values().forEach(this::advance);
        place();
        for (Shard shard : shards.values()) {
          while (shard.read < shard.oplog.size()) {
            receive(shard);
          }
          receive(shard);
          hand(shard, List.of(), Events.highWater(shard.clock + 1), true);
        }
        give(Integer.MAX_VALUE);
      }
    }

    void check(String what) {
      Map<Integer, Integer> seen = new HashMap<>();
      for (StreamEvent.Change change : given) {
        int value = change.document().getInt32("value").getValue();
        assertThat(value)
            .as("%s: write of key %d", what, key(change))
            .isEqualTo(seen.merge(key(change), 1, Integer::sum));
      }
      assertThat(given).as(what).hasSameSizeAs(written);
      if (order == Order.TOTAL) {
        assertThat(tokens).as(what).isSorted();
      }
    }
  }
}
