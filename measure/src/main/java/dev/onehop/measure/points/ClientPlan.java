package dev.onehop.measure.points;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The client processes that load the cluster together.
 *
 * @param count the number of clients, at least one
 * @param index the client that this bench runs while benches elsewhere run the others, from 0; null
 *     if this bench runs all of them
 * @param run names the run; the same for all clients, and different for every run
 */
public record ClientPlan(int count, @Nullable Integer index, String run) {

  /** One client, the default without {@code --clients}. */
  public static final ClientPlan ONE = new ClientPlan(1, null, "");

  /** Whether there is only one client. */
  boolean isOne() {
    return count == 1 && index == null;
  }

  /** Whether benches elsewhere run the other clients. */
  boolean isPart() {
    return index != null;
  }

  /** Whether this bench prepares the collection for all. */
  boolean isFirst() {
    return index == null || index == 0;
  }

  /** The start of a client's part of a number. */
  long begin(long of, int client) {
    return of * client / count;
  }

  /** The size of a client's part of a number. */
  long part(long of, int client) {
    return begin(of, client + 1) - begin(of, client);
  }

  /** The clients that this bench runs. */
  List<Integer> here() {
    return index == null ? IntStream.range(0, count).boxed().toList() : List.of(index);
  }
}
