package dev.onehop.streams.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;

class StreamEventTest {
  private static final BsonTimestamp TIME = new BsonTimestamp(1_700_000_000, 7);

  private static StreamEvent.Change change(BsonDocument event) {
    Checkpoint place = Checkpoint.before(TIME);
    return new StreamEvent.Change(
        "a", place.low(), new RawBsonDocument(event, new BsonDocumentCodec()), 0, place);
  }

  /**
   * A pipeline may remove every field except the token, so the cluster time is read from the token.
   */
  @Test
  void readsClusterTimeFromToken() {
    assertThat(change(new BsonDocument()).clusterTime()).isEqualTo(TIME);
  }

  @Test
  void hasWallTimeIfServerSendsIt() {
    assertThat(change(new BsonDocument()).wallTime()).isNull();
    assertThat(change(new BsonDocument("wallTime", new BsonString("now"))).wallTime()).isNull();
    assertThat(change(new BsonDocument("wallTime", new BsonDateTime(1_234))).wallTime())
        .isEqualTo(Instant.ofEpochMilli(1_234));
  }
}
