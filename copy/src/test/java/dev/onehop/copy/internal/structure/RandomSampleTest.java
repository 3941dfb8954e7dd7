package dev.onehop.copy.internal.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.ServerAddress;
import dev.onehop.wire.message.CommandFailure;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RandomSampleTest {
  private static String taken(RuntimeException failure) throws InterruptedException {
    return KeySamples.take(
        10,
        40,
        stage -> {
          if (stage.containsKey("$sample")) {
            throw failure;
          }
          return stage.toJson();
        });
  }

  @Test
  void usesSampleStage() throws InterruptedException {
    String stage = KeySamples.take(10, 40, BsonDocument::toJson);
    assertThat(stage).isEqualTo("{\"$sample\": {\"size\": 10}}");
  }

  @ParameterizedTest
  @ValueSource(ints = {115, 28_799})
  void readsAllKeysIfServerRejectsSample(int code) throws InterruptedException {
    BsonDocument reply =
        new BsonDocument("ok", new BsonInt32(0)).append("code", new BsonInt32(code));
    for (RuntimeException failure :
        List.of(
            new CommandFailure(code, "Location", "try again"),
            new MongoCommandException(reply, new ServerAddress()))) {
      assertThat(taken(failure)).isEqualTo("{\"$match\": {\"$sampleRate\": 0.25}}");
    }
  }

  @Test
  void throwsOtherFailures() {
    CommandFailure failure = new CommandFailure(13, "Unauthorized", "no");
    assertThatThrownBy(() -> taken(failure)).isSameAs(failure);
  }
}
