package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.CollectionSpec;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MetadataComparisonTest {
  private static CollectionSpec collection(
      String options, String index, @Nullable String shardKey) {
    BsonDocument key = shardKey == null ? null : BsonDocument.parse(shardKey);
    return new CollectionSpec(
        "d.c",
        "d.c",
        CollectionSpec.Kind.COLLECTION,
        null,
        BsonDocument.parse(options),
        List.of(BsonDocument.parse(index)),
        key == null ? null : new CollectionSpec.Sharding(key.getDocument("key"), false, List.of()));
  }

  private static List<String> differences(CollectionSpec from, CollectionSpec to) {
    return differences(Map.of("d.c", from), Map.of("d.c", to));
  }

  private static List<String> differences(
      Map<String, CollectionSpec> from, Map<String, CollectionSpec> to) {
    MetadataComparison comparison = new MetadataComparison(Mapping.ALL, /* shardKeys= */ true);
    comparison.compare(new TreeMap<>(from), new TreeMap<>(to));
    return comparison.differences().stream().map(MetadataDifference::what).toList();
  }

  @Test
  void reportsWhatOneSideDoesNotHave() {
    CollectionSpec one = collection("{capped: true}", "{name: 'a', key: {a: 1}}", "{key: {a: 1}}");
    CollectionSpec other = collection("{}", "{name: 'b', key: {b: 1}, unique: true}", null);
    assertThat(differences(one, other))
        .containsExactly(
            "option capped differs",
            "index a missing at the destination",
            "index b missing at the source",
            "sharded at the source only");
    assertThat(differences(other, one)).endsWith("sharded at the destination only");
    assertThat(differences(other, collection("{}", "{name: 'b', key: {b: 1}}", null)))
        .containsExactly("index b differs in unique");
    assertThat(differences(Map.of("d.c", one), Map.of("d.o", one)))
        .containsExactly(
            "collection missing at the destination", "collection missing at the source");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{pipeline: [{$set: {a: {$literal: 1}}}]}|{pipeline: [{$set: {a: {$literal: NumberLong(1)}}}]}|pipeline",
        "{validator: {a: 0.0}}|{validator: {a: -0.0}}|validator",
        "{validator: {a: 1, b: 1}}|{validator: {b: 1, a: 1}}|validator",
        "{validator: {a: null}}|{validator: {a: {$undefined: true}}}|validator",
        "{validator: {a: 'x'}}|{validator: {a: {$symbol: 'x'}}}|validator"
      })
  void comparesExpressionsByBytes(String from, String to, String option) {
    String index = "{name: 'a_1', key: {a: 1}}";
    assertThat(differences(collection(from, index, null), collection(to, index, null)))
        .containsExactly("option " + option + " differs");
    String filtered = "{name: 'a_1', key: {a: 1}, partialFilterExpression: %s}";
    assertThat(
            differences(
                collection("{}", filtered.formatted(from), null),
                collection("{}", filtered.formatted(to), null)))
        .containsExactly("index a_1 differs in partialFilterExpression");
  }

  /**
   * Servers may store a number as another type, for example after {@code collMod} or in another
   * version. So only the value of the number is compared.
   */
  @Test
  void comparesNumbersInOptionsByValue() {
    assertThat(
            differences(
                collection(
                    "{capped: true, size: 4096, timeseries: {timeField: 't', bucketMaxSpanSeconds: 60}}",
                    "{v: 2, name: 'a_1', key: {a: 1}, expireAfterSeconds: 60, weights: {a: 2}}",
                    "{key: {a: 1}, unique: false}"),
                collection(
                    "{capped: true, size: NumberLong(4096), timeseries: {timeField: 't', bucketMaxSpanSeconds: 60.0}}",
                    "{v: 2.0, name: 'a_1', key: {a: 1.0}, expireAfterSeconds: NumberLong(60), weights: {a: 2.0}}",
                    "{key: {a: 1.0}, unique: false}")))
        .isEmpty();
    assertThat(
            differences(
                collection("{size: 1}", "{name: 'a', key: {a: 1, b: 1}}", "{key: {a: 1}}"),
                collection("{size: 2}", "{name: 'a', key: {b: 1, a: 1}}", "{key: {a: -1}}")))
        .containsExactly("option size differs", "index a differs in key", "shard key differs");
  }
}
