package dev.onehop.wire.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ProtocolException;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class CommandFailureTest {
  @Test
  void serverErrorKeepsAllFields() {
    BsonDocument reply =
        BsonDocument.parse(
            "{ok: 0, code: 462, codeName: 'IngressRequestRateLimitExceeded', errmsg: 'too much',"
                + " errorLabels: ['SystemOverloadedError', 'RetryableError'], baseBackoffMS: 7}");

    assertThat(CommandFailure.toReply(CommandFailure.of(reply), true)).isEqualTo(reply);
  }

  @Test
  void unsentCommandIsRetryableAndResumable() {
    assertThat(labels(new NotSentException("connection refused"), false))
        .containsExactly("SystemOverloadedError", "RetryableError", "ResumableChangeStreamError");
    assertThat(labels(new NotSentException("connection refused"), true))
        .contains("RetryableWriteError");
  }

  @Test
  void connectionErrorIsRetryableOnlyForRetryableWrites() {
    assertThat(labels(new IOException("reset"), true)).containsExactly("RetryableWriteError");
    assertThat(labels(new IOException("reset"), false)).isEmpty();
  }

  @Test
  void protocolErrorHasMessageAndCode() {
    assertThat(CommandFailure.toReply(new ProtocolException("no answer"), true))
        .isEqualTo(
            BsonDocument.parse(
                "{ok: 0.0, errmsg: 'no answer', code: 17, codeName: 'ProtocolError'}"));
  }

  private static List<String> labels(Exception failure, boolean retryableWrite) {
    return CommandFailure.toReply(failure, retryableWrite)
        .getArray("errorLabels", new BsonArray())
        .stream()
        .map(label -> label.asString().getValue())
        .toList();
  }
}
