package dev.onehop.copy.internal.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StructureOfCollectionsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{key: {a: 1}}                                        | {a: 1}           | true",
        "{key: {a: {$numberDouble: '1'}, b: -1}}              | {a: 1}           | true",
        "{key: {a: 1}}                                        | {a: 1, b: 1}     | false",
        "{key: {b: 1, a: 1}}                                  | {a: 1}           | false",
        "{key: {a: -1}}                                       | {a: 1}           | false",
        "{key: {a: 'hashed'}}                                 | {a: 'hashed'}    | true",
        "{key: {a: 1}}                                        | {a: 'hashed'}    | false",
        "{key: {a: 1}, sparse: true}                          | {a: 1}           | false",
        "{key: {a: 1}, partialFilterExpression: {a: 1}}       | {a: 1}           | false",
        "{key: {a: 1}, collation: {locale: 'fr'}}             | {a: 1}           | false",
        "{key: {a: 1}, collation: {locale: 'simple'}}         | {a: 1}           | true",
        "{key: {a: 1}, unique: true}                          | {a: 1}           | true"
      })
  void checksWhetherIndexSupportsShardKey(String index, String key, boolean supports) {
    assertThat(DestinationStructure.supports(BsonDocument.parse(index), BsonDocument.parse(key)))
        .isEqualTo(supports);
  }

  @Test
  void convertsShardKeyOfBucketsToMeasurements() {
    assertThat(
            StructureReader.ofSeries(
                BsonDocument.parse("{'meta.at': 'hashed', 'control.min.t': 1}"),
                BsonDocument.parse("{timeField: 't', metaField: 'tags'}")))
        .isEqualTo(BsonDocument.parse("{'tags.at': 'hashed', t: 1}"));
    assertThat(
            StructureReader.ofSeries(
                BsonDocument.parse("{meta: 1}"),
                BsonDocument.parse("{timeField: 't', metaField: 'tags'}")))
        .isEqualTo(BsonDocument.parse("{tags: 1}"));
  }

  @Test
  void quantilesAreEvenlySpacedAfterFirstKey() {
    List<BsonDocument> keys =
        IntStream.range(0, 100).mapToObj(i -> new BsonDocument("_id", new BsonInt32(i))).toList();
    assertThat(KeySamples.quantiles(keys, 3, 1))
        .extracting(key -> key.getInt32("_id").getValue())
        .containsExactly(25, 50, 75);
    assertThat(KeySamples.quantiles(keys.subList(0, 2), 5, 1)).hasSize(1);
    assertThat(KeySamples.quantiles(keys.subList(0, 1), 5, 1)).isEmpty();
    assertThat(KeySamples.quantiles(List.of(), 5, 1)).isEmpty();
  }
}
