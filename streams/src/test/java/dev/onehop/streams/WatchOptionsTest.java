package dev.onehop.streams;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoClientSettings;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.streams.internal.shard.StreamCommand;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class WatchOptionsTest {
  private final ShardedChangeStream.Builder options =
      ShardedChangeStream.builder("mongodb://localhost/");

  private StreamCommand command() {
    return options.command(MongoClientSettings.getDefaultCodecRegistry());
  }

  @Test
  void watchesWholeClusterByDefault() {
    assertThat(command())
        .isEqualTo(new StreamCommand("admin", null, new BsonDocument(), List.of(), 1_000));
    assertThat(options.watched()).isEqualTo("cluster");
  }

  @Test
  void usesLastChoiceOfCollectionOrDatabase() {
    options.collection("shop", "orders");
    assertThat(options.watched()).isEqualTo("shop.orders");
    options.database("shop");
    assertThat(options.watched()).isEqualTo("shop");
    assertThat(command().collection()).isNull();
    options.cluster();
    assertThat(options.watched()).isEqualTo("cluster");
  }

  @Test
  void sendsOnlyNonDefaultOptions() {
    options
        .fullDocument(FullDocument.UPDATE_LOOKUP)
        .fullDocumentBeforeChange(FullDocumentBeforeChange.WHEN_AVAILABLE)
        .showExpandedEvents(true)
        .pipeline(List.of(Aggregates.match(Filters.eq("ns.coll", "orders"))))
        .batchSize(0);
    assertThat(command().options())
        .isEqualTo(
            BsonDocument.parse(
                "{fullDocument: 'updateLookup', fullDocumentBeforeChange: 'whenAvailable',"
                    + " showExpandedEvents: true}"));
    assertThat(command().pipeline())
        .containsExactly(BsonDocument.parse("{$match: {'ns.coll': 'orders'}}"));
    assertThat(command().batchSize()).isZero();
  }
}
