package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

class LaneTest {
  private static BsonTimestamp time(int seconds) {
    return new BsonTimestamp(seconds, 1);
  }

  private static Lane.Document document(int id) {
    return new Lane.Document("c", Target.key(new BsonInt32(id)));
  }

  private static Lane.Document named(int id) {
    return new Lane.Document("d.c", Target.key(new BsonInt32(id)));
  }

  @Test
  void readDocumentIncludesEarlierEvents() {
    Lane lane = new Lane(1, time(10));
    assertThat(lane.has(document(1), time(5))).isFalse();
    lane.wrote(document(1), time(20));
    assertThat(lane.has(document(1), time(20))).isTrue();
    assertThat(lane.has(document(1), time(21))).isFalse();
    assertThat(lane.has(document(2), time(5))).isFalse();
    assertThat(lane.exactFrom()).isEqualTo(time(20));
  }

  @Test
  void unreadDocumentsAreUncertainUpToHorizon() {
    Lane lane = new Lane(1, time(10));
    lane.wrote(document(1), time(8));
    assertThat(lane.isUncertain(document(1), named(1), time(9))).isFalse();
    assertThat(lane.isUncertain(document(2), named(2), time(9))).isTrue();
    assertThat(lane.isUncertain(document(2), named(2), time(10))).isTrue();
    assertThat(lane.isUncertain(document(2), named(2), time(11))).isFalse();
  }

  /**
   * After a collection is resharded, its events have another UUID. A document that was read before
   * is then found by the collection's name.
   */
  @Test
  void documentReadBeforeReshardingIsUncertain() {
    Lane lane = new Lane(1, time(10));
    lane.wrote(document(1), time(20));
    lane.wrote(named(1), time(20));
    Lane.Document resharded = new Lane.Document("e", Target.key(new BsonInt32(1)));
    assertThat(lane.has(resharded, time(15))).isFalse();
    assertThat(lane.isUncertain(resharded, named(1), time(15))).isTrue();
    assertThat(lane.isUncertain(resharded, named(1), time(21))).isFalse();
    assertThat(lane.isUncertain(document(1), named(1), time(21))).isFalse();
  }

  @Test
  void forgetsReachedDocuments() {
    Lane lane = new Lane(1, time(10));
    lane.wrote(document(1), time(20));
    lane.wrote(document(2), time(30));
    lane.reached(time(20));
    assertThat(lane.has(document(1), time(20))).isTrue();
    lane.reached(time(21));
    assertThat(lane.has(document(1), time(20))).isFalse();
    assertThat(lane.has(document(2), time(20))).isTrue();
    assertThat(lane.exactFrom()).isEqualTo(time(30));
  }

  /**
   * The lane stores a limited number of documents. A document that it has forgotten too early is
   * uncertain again.
   */
  @Test
  void horizonCoversForgottenDocuments() {
    Lane lane = new Lane(1, time(10));
    lane.wrote(document(0), time(50));
    for (int id = 1; id < 50_000; id++) {
      lane.wrote(document(id), time(60));
    }
    assertThat(lane.has(document(0), time(40))).isFalse();
    assertThat(lane.isUncertain(document(0), named(0), time(50))).isTrue();
    assertThat(lane.isUncertain(document(1), named(1), time(60))).isTrue();
    assertThat(lane.isUncertain(document(1), named(1), time(61))).isFalse();
    assertThat(lane.has(document(49_999), time(60))).isTrue();
  }
}
