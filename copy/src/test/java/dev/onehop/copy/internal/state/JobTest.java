package dev.onehop.copy.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import java.time.Duration;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests which process owns a job. The clock of the destination's server decides when a lease has
 * ended.
 */
class JobTest {
  private static final long LEASE = 30_000;

  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd destination = server.connect("destination");
  private Job first;
  private Job second;

  @BeforeEach
  void connect() throws InterruptedException {
    server.now(1_000);
    first = job();
    second = job();
  }

  private Job job() {
    return new Job(destination, "onehop_copy", "j", Duration.ofMillis(LEASE));
  }

  private BsonDocument stored() {
    return server.stored("onehop_copy.jobs").get(0);
  }

  private static BsonDocument json(String json) {
    return BsonDocument.parse(json);
  }

  @Test
  void ownsJobUntilLeaseEnds() throws InterruptedException {
    assertThat(first.read()).isNull();
    assertThat(first.create(json("{phase: 'START'}"))).isTrue();
    assertThat(second.take()).isFalse();
    assertThat(second.create(json("{phase: 'OTHER'}"))).isFalse();
    assertThat(second.isTaken()).isTrue();

    server.now(1_000 + LEASE - 1);
    assertThat(second.take()).isFalse();
    server.now(1_000 + LEASE);
    assertThat(second.isTaken()).isFalse();
    assertThat(second.take()).isTrue();
    assertThat(second.term().getValue()).isGreaterThan(first.term().getValue());
    assertThat(second.get("phase")).isEqualTo(json("{p: 'START'}").get("p"));
  }

  @Test
  void formerOwnerCannotWrite() throws InterruptedException {
    first.create(json("{phase: 'START'}"));
    server.now(1_000 + LEASE);
    second.take();
    BsonDocument before = stored();

    assertThatThrownBy(() -> first.set(json("{phase: 'COPY'}")))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("another process has taken the job over");
    assertThatThrownBy(first::renew).isInstanceOf(CopyException.class);
    first.release();
    assertThat(stored()).isEqualTo(before);
  }

  @Test
  void writeRenewsLease() throws InterruptedException {
    first.create(json("{phase: 'START'}"));
    server.now(1_000 + LEASE - 1);
    first.set(json("{phase: '$owner'}"));
    server.now(1_000 + 2 * LEASE - 2);
    assertThat(second.take()).isFalse();
    // A string with a dollar sign is stored as a value, not evaluated as an expression.
    assertThat(stored().getString("phase").getValue()).isEqualTo("$owner");
  }

  @Test
  void releasedJobIsFreeAtOnce() throws InterruptedException {
    first.create(json("{phase: 'START'}"));
    first.release();
    assertThat(second.take()).isTrue();
  }

  @Test
  void otherProcessCanRequestPauseOrFinish() throws InterruptedException {
    assertThat(second.ask("paused", true)).isFalse();
    first.create(json("{phase: 'START'}"));
    assertThat(second.ask("paused", true)).isTrue();
    assertThat(second.ask("finish", true)).isTrue();
    assertThat(first.isPaused()).isFalse();
    first.renew();
    assertThat(first.isPaused()).isTrue();
    assertThat(first.isToFinish()).isTrue();
    second.ask("paused", false);
    first.renew();
    assertThat(first.isPaused()).isFalse();
  }
}
