package dev.onehop.measure.copying;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is measured.
 *
 * @param setups from what to what
 * @param kinds of {@link dev.onehop.measure.results.CopyBenchRun}, in their order
 * @param records documents of all collections together
 * @param collections into how many collections they are split, one after the other
 * @param operations how many inserts and updates a backlog has
 * @param rate operations per second that are written while lags are measured
 * @param duration how long they are
 * @param rounds how often each way is measured
 * @param quick whether all of it is small, so that the optimizing compiler would not pay
 * @param routerCpus how many processors each router may use; null for all
 * @param mongod the servers' program; null to find it
 * @param mongos the routers' program; null to find it, or to use the stand-in
 */
public record CopyBenchPlan(
    List<ClusterPair> setups,
    List<String> kinds,
    int records,
    List<Integer> collections,
    int operations,
    int rate,
    Duration duration,
    int rounds,
    boolean quick,
    @Nullable Double routerCpus,
    @Nullable Path mongod,
    @Nullable Path mongos) {

  /** Copies the lists. */
  public CopyBenchPlan {
    setups = List.copyOf(setups);
    kinds = List.copyOf(kinds);
    collections = List.copyOf(collections);
  }
}
