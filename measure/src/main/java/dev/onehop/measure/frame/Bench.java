package dev.onehop.measure.frame;

import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.RunResults;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is measured, and how: the contract between a bench and its {@link Session}. The session
 * calls all methods on one thread, in the order of their declaration; a bench need not be
 * thread-safe.
 *
 * @param <C> what one measurement is of
 * @param <P> what one measurement gives
 * @param <R> the results of all of them
 */
public interface Bench<C extends Bench.Cell, P, R extends RunResults> {

  /** One measurement of the plan. Immutable. */
  interface Cell {
    /** Names the cell in progress lines, such as {@code async, 64 threads}. */
    String title();
  }

  /**
   * Prepares the measurements: checks, loads, warms up.
   *
   * @throws dev.onehop.resync.Failure if nothing can be measured
   */
  void prepare(Session session) throws IOException, InterruptedException;

  /** All cells in the order in which they are measured, a cell of several rounds several times. */
  List<C> cells();

  /** How long a cell is expected to take; zero if that is not known. */
  default Duration estimate(C cell, Session session) {
    return Duration.ZERO;
  }

  /**
   * Measures a cell. Ends early if the thread is interrupted.
   *
   * @throws dev.onehop.resync.Failure if it can't be measured
   */
  P measure(C cell, Session session) throws IOException, InterruptedException;

  /**
   * The results of the cells that are measured.
   *
   * @param measured in the order of measurement; fewer than planned if the run ended early
   * @return null if they are not worth a file
   */
  @Nullable R results(List<Measured<C, P>> measured, Session session);

  /** A cell and what its measurement gave. Immutable. */
  record Measured<C, P>(C cell, P point) {}

  /** The table for a terminal; empty if there is nothing to show. */
  default String table(R results) {
    return Reports.table(results);
  }

  /** Writes the page of the results into a folder, and returns its file. */
  default Path page(Path folder, R results) {
    return Reports.write(folder, results);
  }

  /** Ends what the bench has started, also after a failure. Called once, after the last method. */
  default void close() {}
}
