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
 * Requests that a job pauses, proceeds or finishes. The process that works on the job reads the
 * request when it renews its lease. Thread-safe.
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
   * @param to the connection string of the destination
   * @param settings changes the driver's settings
   * @param job the job's name
   * @throws CopyException if the destination can't be reached
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

  /** Requests that a paused job reads and writes again. */
  public void proceed() throws InterruptedException {
    ask("paused", false);
  }

  /**
   * Requests the end of the job. The job ends once it has applied all changes that the source had
   * when the job's process read the request. If the destination is to replace the source, first
   * stop the writes to the source.
   */
  public void finish() throws InterruptedException {
    ask("finish", true);
  }

  /**
   * Whether a process works on the job. The result stays true after the process was killed, until
   * its lease ends ({@link ClusterCopy.Builder#lease}).
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
    return new CopyException("the destination has no job " + name);
  }

  /**
   * The stored state of the job. It has these fields, except fields without a value:
   *
   * <ul>
   *   <li>{@code job}: the name of the job
   *   <li>{@code phase}: the current phase
   *   <li>{@code term}: a number that rises with each process of the job
   *   <li>{@code paused}, {@code finish}: whether a pause or the end was requested
   *   <li>{@code progress}: the progress at the last renewal of the lease
   *   <li>{@code finishedAt}: a cluster time of the source. The finished job has applied all
   *       changes before this time
   * </ul>
   *
   * @throws CopyException if the destination has no such job
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
