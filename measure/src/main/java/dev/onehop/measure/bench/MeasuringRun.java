package dev.onehop.measure.bench;

import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.frame.ServerDeath;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunResults;
import dev.onehop.resync.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A run against a running cluster which writes {@code results.json} again and again, so that one
 * that ends early leaves what it has. Its lock guards what it has found.
 *
 * @param <R> its results
 */
public abstract class MeasuringRun<R extends RunResults> implements ClusterSession.Work {

  private final RunContext context;
  private final ServerDeath death = new ServerDeath();
  private @Nullable String stopReason; // guarded by this

  /** Has found nothing yet. */
  protected MeasuringRun(RunContext context) {
    this.context = context;
  }

  /** What was found so far; called on any thread. */
  protected abstract R results();

  /** Draws the report. */
  protected abstract void report(R results);

  /** What there is in the results, for a person, such as {@code 3 finished points}. */
  protected abstract String finished(R results);

  /** Ends what goes on; called on any thread. */
  protected abstract void stop();

  /** What results say besides. */
  protected final RunContext context() {
    return context;
  }

  /** Why it ended early; null if it did not. */
  protected final synchronized @Nullable String stopReason() {
    return stopReason;
  }

  /** Writes what was found so far. */
  protected final synchronized void write() {
    ResultsFile.write(context.out(), results());
  }

  /** Keeps why it failed, and returns where that came from: a server's end, if there was one. */
  protected final Failure fail(Failure failure) {
    Failure cause = death.causeOf(failure);
    synchronized (this) {
      if (stopReason == null) {
        stopReason = Failure.firstLine(cause);
      }
      write();
    }
    return cause;
  }

  @Override
  public final void serverDied(String message) {
    death.noticed(message);
    stop();
  }

  @Override
  public final String interrupt() {
    synchronized (this) {
      stopReason = "interrupted";
    }
    stop();
    R results = results();
    ResultsFile.write(context.out(), results);
    report(results);
    return finished(results) + " are in " + context.out().resolve(ResultsFile.NAME);
  }
}
