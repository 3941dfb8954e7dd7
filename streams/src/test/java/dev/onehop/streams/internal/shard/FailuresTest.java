package dev.onehop.streams.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoCommandException;
import dev.onehop.streams.internal.merge.ReadFailure.Kind;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import java.io.IOException;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {

  @ParameterizedTest
  @CsvSource({
    // The codes of a primary that steps down and of a member that rolls back.
    "189, '', PASSING",
    "175, '', PASSING",
    "8000, ResumableChangeStreamError, PASSING",
    "136, NonResumableChangeStreamError, FINAL",
    "286, NonResumableChangeStreamError, HISTORY_LOST",
    "10334, '', TOO_LARGE",
    "343, '', PASSING",
    "462, SystemOverloadedError, PASSING",
    "280, '', FINAL",
    "13, '', FINAL"
  })
  void classifiesErrorByCodeAndLabels(int code, String label, Kind kind) {
    BsonDocument reply =
        BsonDocument.parse(
            "{ok: 0, code: %d, codeName: 'Name', errmsg: 'why', errorLabels: ['%s']}"
                .formatted(code, label));
    assertThat(Failures.of(CommandFailure.of(reply)).kind()).isEqualTo(kind);
  }

  @Test
  void errorContainsAddressOfServer() {
    BsonDocument reply = BsonDocument.parse("{ok: 0, code: 13, errmsg: 'why'}");
    assertThat(
            Failures.of(CommandFailure.of(reply, ServerAddressName.parse("shard.invalid:27018")))
                .getCause())
        .isInstanceOf(MongoCommandException.class)
        .hasMessageContaining("why' on server shard.invalid:27018");
    assertThat(Failures.of(CommandFailure.of(reply)).getCause())
        .isInstanceOf(MongoCommandException.class)
        .hasMessageContaining("why' on server onehop-streams:27017");
  }

  @Test
  void connectionFailureIsTransient() {
    assertThat(Failures.of(new IOException("reset")).kind()).isEqualTo(Kind.PASSING);
    assertThat(Failures.of(new IllegalStateException("a fault")).kind()).isEqualTo(Kind.FINAL);
  }
}
