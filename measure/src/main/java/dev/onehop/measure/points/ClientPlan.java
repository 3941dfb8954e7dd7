package dev.onehop.measure.points;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The client processes that load the cluster together.
 *
 * @param count how many there are, at least one
 * @param index the one that this bench runs while benches elsewhere run the others, from 0; null if
 *     this bench runs all of them
 * @param run names the run; the same for all clients, and for no other run
 */
public record ClientPlan(int count, @Nullable Integer index, String run) {

  /** One client, as without {@code --clients}. */
  public static final ClientPlan ONE = new ClientPlan(1, null, "");

  /** Whether there is one only. */
  boolean isOne() {
    return count == 1 && index == null;
  }

  /** Whether benches elsewhere run the other clients. */
  boolean isPart() {
    return index != null;
  }

  /** Whether this bench prepares what all use. */
  boolean isFirst() {
    return index == null || index == 0;
  }

  /** Where a client's part of some number begins. */
  long begin(long of, int client) {
    return of * client / count;
  }

  /** How much a client's part of some number is. */
  long part(long of, int client) {
    return begin(of, client + 1) - begin(of, client);
  }

  /** Those that this bench runs. */
  List<Integer> here() {
    return index == null ? IntStream.range(0, count).boxed().toList() : List.of(index);
  }
}
