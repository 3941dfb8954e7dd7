package dev.onehop.copy;

import com.mongodb.MongoClientSettings;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.routing.RoutingMode;
import java.time.Duration;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonNull;

/**
 * Requests that a job pause, resume or finish. The process that works on it sees the request when
 * it renews its lease. Thread-safe.
 */
public final class CopyControl implements AutoCloseable {
  private final ClusterEnd destination;
  private final String name;
  private final Job job;

  private CopyControl(ClusterEnd destination, String name) {
    this.destination = destination;
    this.name = name;
    this.job = new Job(destination, ClusterCopy.STATE_DATABASE, name, Duration.ofSeconds(10));
  }

  /**
   * Connects to the destination of a job.
   *
   * @param to its connection string
   * @param settings changes the driver's settings
   * @param job the job's name
   * @throws CopyException if it can't be reached
   */
  public static CopyControl connect(
      String to, Consumer<MongoClientSettings.Builder> settings, String job)
      throws InterruptedException {
    return new CopyControl(
        ClusterEnd.connect("destination", to, settings, RoutingMode.NONE, 1), job);
  }

  /** Requests a pause: the job reads and writes nothing until {@link #proceed}. */
  public void pause() throws InterruptedException {
    ask("paused", true);
  }

  /** Requests that the job resume. */
  public void proceed() throws InterruptedException {
    ask("paused", false);
  }

  /**
   * Requests the end of the job: it ends once it has applied all changes that the source has when
   * it sees the request. If the destination replaces the source, stop the writes to the source
   * first.
   */
  public void finish() throws InterruptedException {
    ask("finish", true);
  }

  /**
   * Whether a process works on the job. A killed process counts until its lease ends, {@link
   * ClusterCopy.Builder#lease}.
   */
  public boolean isWorkedOn() throws InterruptedException {
    return job.isTaken();
  }

  private void ask(String what, boolean yes) throws InterruptedException {
    if (!job.ask(what, yes)) {
      throw unknown();
    }
  }

  private CopyException unknown() {
    return new CopyException("the destination has no job " + name, null);
  }

  /**
   * The stored state of the job: {@code phase}, {@code term}, which grows with each process, {@code
   * paused}, {@code finish}, and {@code progress} as of the last renewal.
   */
  public BsonDocument status() throws InterruptedException {
    BsonDocument known = job.read();
    if (known == null) {
      throw unknown();
    }
    BsonDocument status = new BsonDocument("job", known.get("_id"));
    for (String field :
        new String[] {"phase", "term", "paused", "finish", "progress", "finishedAt"}) {
      if (!known.get(field, BsonNull.VALUE).isNull()) {
        status.append(field, known.get(field));
      }
    }
    return status;
  }

  @Override
  public void close() {
    destination.close();
  }
}
