package dev.onehop.measure.frame;

import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.RunResults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The contract between a bench and its {@link Session}. The session calls all methods on one
 * thread, in the order of their declaration; a bench need not be thread-safe.
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
   * Prepares the measurements: checks, loads, warms up.
   *
   * @throws dev.onehop.resync.Failure if no measurement is possible
   */
  void prepare(Session session) throws IOException, InterruptedException;

  /** All cells in the order of measurement, with a cell of several rounds several times. */
  List<C> cells();

  /** The expected time of a cell; zero if unknown. */
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
   * The results of the measured cells.
   *
   * @param measured in the order of measurement; fewer than planned if the run ended early
   * @return null if there are too few for a file
   */
  @Nullable R results(List<Measured<C, P>> measured, Session session);

  /** A cell and its result. Immutable. */
  record Measured<C, P>(C cell, P point) {}

  /** The table for a terminal; empty if there is nothing to show. */
  default String table(R results) {
    return Reports.table(results);
  }

  /** Writes the page of the results into a folder, and returns its file. */
  default Path page(Path folder, R results) {
    return Reports.write(folder, results);
  }

  /**
   * Ends everything that the bench has started, also after a failure. Called once, after the last
   * method.
   */
  default void close() {}
}
