package dev.onehop.measure.frame;

import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.RunResults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A bench that a {@link Session} runs. The session calls all methods on one thread, in the order of
 * their declaration. A bench need not be thread-safe.
 *
 * @param <C> one measurement of the plan
 * @param <P> the result of one measurement
 * @param <R> the results of all measurements
 */
public interface Bench<C extends Bench.Cell, P, R extends RunResults> {

  /** One measurement of the plan. Immutable. */
  interface Cell {
    /** The name of the cell in progress lines, such as {@code async, 64 threads}. */
    String title();
  }

  /**
   * Prepares the measurements. For example, checks the cluster, loads documents and warms up.
   *
   * @throws dev.onehop.resync.Failure if no measurement is possible
   */
  void prepare(Session session) throws IOException, InterruptedException;

  /**
   * Returns all cells in the order of measurement. A cell of several rounds is in the list several
   * times.
   */
  List<C> cells();

  /** Returns the expected time of a cell; zero if unknown. */
  default Duration estimate(C cell, Session session) {
    return Duration.ZERO;
  }

  /**
   * Measures a cell. Ends early if the thread is interrupted.
   *
   * @throws dev.onehop.resync.Failure if the measurement fails
   */
  P measure(C cell, Session session) throws IOException, InterruptedException;

  /**
   * Returns the results of the measured cells.
   *
   * @param measured the cells in the order of measurement; fewer than planned if the run ended
   *     early
   * @return the results; null if there are too few of them for a file
   */
  @Nullable R results(List<Measured<C, P>> measured, Session session);

  /** A cell and its result. Immutable. */
  record Measured<C, P>(C cell, P point) {}

  /** Returns the table for a terminal; empty if there is no table. */
  default String table(R results) {
    return Reports.table(results);
  }

  /** Writes the page of the results into a folder, and returns its file. */
  default Path page(Path folder, R results) {
    return Reports.write(folder, results);
  }

  /**
   * Ends all processes that the bench has started. The session calls it once, as the last method,
   * also after a failure.
   */
  default void close() {}
}
