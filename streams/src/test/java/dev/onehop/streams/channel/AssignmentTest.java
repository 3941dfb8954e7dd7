package dev.onehop.streams.channel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.streams.channel.LeaseStore.Lease;
import dev.onehop.streams.channel.LeaseStore.View;
import dev.onehop.streams.event.Checkpoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AssignmentTest {
  private static final Checkpoint PLACE = Checkpoint.before(new BsonTimestamp(1, 1));

  /**
   * @param owners the owners of the channels; null for a channel without an owner, an upper-case
   *     letter if the owner's lease has expired
   */
  private static View view(List<String> members, @Nullable String... owners) {
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < owners.length; i++) {
      String owner = owners[i];
      boolean expired = owner != null && owner.equals(owner.toUpperCase(Locale.ROOT));
      leases.add(
          new Lease(
              i,
              owner == null ? null : owner.toLowerCase(Locale.ROOT),
              1,
              expired,
              1,
              PLACE,
              null));
    }
    return new View("group", leases, members, false);
  }

  private static Assignment of(View view, String member, Integer... staying) {
    List<Integer> its = Arrays.asList(staying);
    return Assignment.of(view, member, its, its::contains);
  }

  @Test
  void memberTakesItsShareOfFreeChannels() {
    View view = view(List.of("a", "b"), null, "b", "B", "a", null);
    Assignment first = of(view, "a", 3);
    assertThat(first.leave()).isEmpty();
    assertThat(first.free()).containsExactly(0, 2, 4);
    assertThat(first.missing()).isEqualTo(2);
    assertThat(of(view, "b", 1).missing()).isEqualTo(1);
  }

  @Test
  void memberReleasesLastChannelsAboveItsShare() {
    Assignment mine = of(view(List.of("a", "b", "c"), "a", "a", "a", "a"), "a", 0, 1, 2, 3);
    assertThat(mine.leave()).containsExactly(2, 3);
    assertThat(mine.missing()).isEqualTo(-2);
    assertThat(mine.free()).isEmpty();
  }

  /**
   * While the member still has a channel, it does not take the channel again, because the last
   * batch may still be written. Without the channel, it may take the channel, although the lease
   * already names the member as the owner.
   */
  @Test
  void memberDoesNotTakeItsChannelAgain() {
    View view = view(List.of("a"), "a", "a");
    assertThat(Assignment.of(view, "a", List.of(1), channel -> true).free()).isEmpty();
    assertThat(of(view, "a", 1).free()).containsExactly(0);
  }

  @Test
  void unlistedMemberWaits() {
    Assignment mine = of(view(List.of("b"), null, null), "a");
    assertThat(mine.free()).isEmpty();
    assertThat(mine.leave()).isEmpty();
    assertThat(mine.missing()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "6, 4", "7, 3", "128, 5", "2, 3"})
  void changingMembersShareAllChannelsEvenly(int channels, int most) {
    Random random = new Random(channels);
    List<Set<Integer>> owned = new ArrayList<>();
    IntStream.range(0, most).forEach(i -> owned.add(new HashSet<>()));
    for (int round = 0; round < 20; round++) {
      List<String> alive =
          new ArrayList<>(IntStream.range(0, most).mapToObj(i -> "m" + i).toList());
      while (alive.size() > 1 && random.nextBoolean()) {
        alive.remove(random.nextInt(alive.size()));
      }
      for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < most; i++) {
          int number = i;
          String name = "m" + i;
          if (!alive.contains(name)) {
            owned.get(i).clear();
            continue;
          }
          String[] owners = new String[channels];
          for (int m = 0; m < most; m++) {
            int its = m;
            owned.get(m).forEach(channel -> owners[channel] = "m" + its);
          }
          Assignment mine =
              Assignment.of(
                  view(alive, owners),
                  name,
                  owned.get(i).stream().sorted().toList(),
                  owned.get(i)::contains);
          owned.get(number).removeAll(mine.leave());
          mine.free().stream()
              .limit(Math.max(0, mine.missing()))
              .forEach(channel -> owned.get(number).add(channel));
        }
      }
      List<Integer> sizes = new ArrayList<>();
      Set<Integer> all = new HashSet<>();
      for (String name : alive) {
        Set<Integer> its = owned.get(Integer.parseInt(name.substring(1)));
        sizes.add(its.size());
        all.addAll(its);
      }
      assertThat(all).hasSize(channels);
      assertThat(sizes)
          .allMatch(size -> size == channels / alive.size() || size == channels / alive.size() + 1);
      assertThat(sizes.stream().mapToInt(Integer::intValue).sum()).isEqualTo(channels);
    }
  }
}
