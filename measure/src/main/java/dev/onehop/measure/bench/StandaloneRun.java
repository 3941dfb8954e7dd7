package dev.onehop.measure.bench;

import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunResults;
import dev.onehop.resync.Failure;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A run that starts its own servers, and writes {@code results.json} again and again, so that one
 * that ends early leaves what it has. Its lock guards what it has found.
 *
 * @param <R> its results
 */
public abstract class StandaloneRun<R extends RunResults> {

  private final RunContext context;
  private @Nullable String stopReason; // guarded by this

  /** Has found nothing yet. */
  protected StandaloneRun(RunContext context) {
    this.context = context;
  }

  /** Starts servers, measures, and stops them, also if it fails. */
  public abstract void run() throws IOException, InterruptedException;

  /** What was found so far; null if there is nothing. */
  public abstract @Nullable R results();

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
    R results = results();
    if (results != null) {
      ResultsFile.write(context.out(), results);
    }
  }

  /** Keeps why it ended early. */
  public final synchronized void ended(Failure failure) {
    stopReason = Failure.firstLine(failure);
    write();
  }
}
