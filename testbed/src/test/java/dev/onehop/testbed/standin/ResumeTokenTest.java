package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.wire.message.CommandFailure;
import java.util.Locale;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;

class ResumeTokenTest {
  // From the server's own resume_token_test and from streams of 6.0.5.
  private static final String EVENT =
      "8265A1B2C3000000052B042C0100296E5A1004AABBCCDDEEFF00112233445566778899461E5F6964002B020004";
  private static final String INVALIDATE =
      "8265A1B2C3000000052B042C0100296F5A1004AABBCCDDEEFF00112233445566778899461E5F6964002B020004";
  private static final String HIGH_WATER_MARK = "8265A1B2C3000000052B0429296E04";

  @Test
  void readsClusterTime() {
    assertThat(token(EVENT).clusterTime()).isEqualTo(new BsonTimestamp(0x65A1B2C3, 5));
    assertThat(token(HIGH_WATER_MARK).clusterTime()).isEqualTo(new BsonTimestamp(0x65A1B2C3, 5));
  }

  @Test
  void recognizesInvalidate() {
    assertThat(token(EVENT).isFromInvalidate()).isFalse();
    assertThat(token(HIGH_WATER_MARK).isFromInvalidate()).isFalse();
    assertThat(token(INVALIDATE).isFromInvalidate()).isTrue();
  }

  @Test
  void highWaterMarkIsBeforeEventsOfItsTime() {
    assertThat(token(HIGH_WATER_MARK)).isLessThan(token(EVENT));
    assertThat(token(EVENT)).isLessThan(token(INVALIDATE));
    assertThat(token(EVENT.toLowerCase(Locale.ROOT))).isEqualTo(token(EVENT));
  }

  @Test
  void rejectsInvalidTokens() {
    assertThatThrownBy(() -> ResumeToken.of(new BsonInt32(1))).isInstanceOf(CommandFailure.class);
    assertThatThrownBy(() -> token("")).isInstanceOf(CommandFailure.class);
    assertThatThrownBy(() -> token("zz")).isInstanceOf(CommandFailure.class);
    assertThatThrownBy(() -> token("8265").clusterTime()).isInstanceOf(CommandFailure.class);
  }

  private static ResumeToken token(String data) {
    return ResumeToken.of(new BsonDocument("_data", new BsonString(data)));
  }
}
