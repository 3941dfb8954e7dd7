package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.internal.full.Limits;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.progress.CopyException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * While a process works on a job, it renews the lease in the job's document. It ends the work when
 * another process takes the job.
 */
class LeaseKeepingTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Duration LEASE = Duration.ofMillis(60);
  private static final String JOBS = "onehop_copy.jobs";

  private final ProgressMeter meter = new ProgressMeter("j", new Counts(), System::nanoTime);
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd destination = server.connect("destination");
  private Job job;

  @BeforeEach
  void connect() throws InterruptedException {
    job = new Job(destination, "onehop_copy", "j", LEASE);
    job.create(BsonDocument.parse("{phase: 'FULL'}"));
  }

  private void during(LeaseKeeping.Work work) throws InterruptedException {
    Limits limits = new Limits(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);
    new LeaseKeeping(job, LEASE, limits, meter).during(work);
  }

  private BsonDocument stored() {
    return server.stored(JOBS).get(0);
  }

  @Test
  void storesProgressAndReadsPauseRequest() throws InterruptedException {
    job.ask("paused", true);
    during(() -> await().atMost(TIMEOUT).until(() -> meter.progress().paused()));
    assertThat(stored().getDocument("progress").keySet())
        .contains("phase", "ranges", "rangesDone", "documents", "documentsDone", "bytesDone");
  }

  @Test
  void interruptsWorkWhenAnotherProcessTakesJob() {
    assertThatThrownBy(
            () ->
                during(
                    () -> {
                      BsonDocument others = stored().append("term", new BsonInt64(9));
                      server.clear(JOBS);
                      server.store(JOBS, others);
                      new CountDownLatch(1).await();
                    }))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("another process has taken the job over");
    assertThat(Thread.interrupted()).isFalse();
    assertThat(stored().getInt64("term").getValue()).isEqualTo(9);
  }

  @Test
  void throwsFailureOfWork() {
    assertThatThrownBy(
            () ->
                during(
                    () -> {
                      throw new IllegalStateException("its own");
                    }))
        .hasMessage("its own");
  }
}
