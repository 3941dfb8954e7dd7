package dev.onehop.shards.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

class ClusterClockTest {
  private final ClusterClock clock = new ClusterClock();

  private static BsonDocument time(int seconds) {
    return new BsonDocument("clusterTime", new BsonTimestamp(seconds, 1));
  }

  private static BsonDocument message(int seconds) {
    return new BsonDocument("$clusterTime", time(seconds));
  }

  @Test
  void keepsLatestTime() {
    clock.observe(message(7));
    clock.observe(message(5));
    assertThat(clock.clusterTime()).isEqualTo(time(7));
  }

  @Test
  void gossipsLaterOfCommandAndClockTime() {
    clock.observe(message(7));
    BsonDocument silent = new BsonDocument();
    BsonDocument behind = message(6);
    BsonDocument ahead = message(8);

    clock.gossip(silent);
    clock.gossip(behind);
    clock.gossip(ahead);

    assertThat(silent).isEqualTo(message(7));
    assertThat(behind).isEqualTo(message(7));
    assertThat(ahead).isEqualTo(message(8));
  }

  @Test
  void gossipsNothingWithoutObservedTime() {
    BsonDocument command = new BsonDocument();
    clock.gossip(command);
    assertThat(command).isEmpty();
  }

  @Test
  void forgetsRejectedTimeUnlessLaterTimeIsKnown() {
    clock.observe(message(7));
    clock.forget(time(6));
    assertThat(clock.clusterTime()).isEqualTo(time(7));
    clock.forget(time(7));
    assertThat(clock.clusterTime()).isNull();
  }
}
