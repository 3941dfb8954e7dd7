package dev.onehop.measure.points;

import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The client processes that load the cluster together.
 *
 * @param count the number of clients, at least one
 * @param index the number of the client that this bench runs, from 0, while benches on other
 *     machines run the other clients; null if this bench runs all clients
 * @param run the name of the run, which is the same for all clients and different for every run
 */
public record ClientPlan(int count, @Nullable Integer index, String run) {

  /** One client, the default without {@code --clients}. */
  public static final ClientPlan ONE = new ClientPlan(1, null, "");

  /** Whether there is only one client. */
  boolean isOne() {
    return count == 1 && index == null;
  }

  /** Whether benches on other machines run the other clients. */
  boolean isPart() {
    return index != null;
  }

  /** Whether this bench runs several clients, and combines their results. */
  boolean isMerged() {
    return !isOne() && !isPart();
  }

  /** Whether this bench prepares the collection for all clients. */
  boolean isFirst() {
    return index == null || index == 0;
  }

  /**
   * Returns the start of a client's part, if a number of records is divided between the clients.
   */
  long begin(long of, int client) {
    return of * client / count;
  }

  /** Returns the size of a client's part, if a number of records or operations is divided. */
  long part(long of, int client) {
    return begin(of, client + 1) - begin(of, client);
  }

  /** The clients that this bench runs. */
  List<Integer> here() {
    return index == null ? IntStream.range(0, count).boxed().toList() : List.of(index);
  }
}
