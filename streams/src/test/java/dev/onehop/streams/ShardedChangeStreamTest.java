package dev.onehop.streams;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.model.changestream.FullDocument;
import dev.onehop.streams.event.Source;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.Test;

class ShardedChangeStreamTest {

  @Test
  void refusesWhatDoesNotGoTogether() {
    assertThatThrownBy(() -> builder().groupTransactions(true).source(Source.MONGOS).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("mongos");
    assertThatThrownBy(
            () ->
                builder()
                    .fullDocument(FullDocument.UPDATE_LOOKUP)
                    .pipeline(List.of(Document.parse("{$match: {'fullDocument.a': 1}}")))
                    .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fullDocument");
  }

  @Test
  void refusesNumbersThatThereCanNotBe() {
    assertThatThrownBy(() -> builder().batchSize(-1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder().bufferPerShard(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static ShardedChangeStream.Builder builder() {
    return ShardedChangeStream.builder("mongodb://localhost/").collection("it", "c");
  }
}
