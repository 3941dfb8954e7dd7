package dev.onehop.streams.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which updates can be applied from their events alone. */
class FieldChangesTest {
  private static @Nullable FieldChanges changes(String description) {
    return FieldChanges.of(BsonDocument.parse(description));
  }

  /** If update operators can't express an event, the event's document is read from the source. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{updatedFields: {a: 1}}                                             | true",
        "{updatedFields: {'a.b.0': 1}}                                       | true",
        "{updatedFields: {'': 1}}                                            | false",
        "{updatedFields: {'a.': 1}}                                          | false",
        "{updatedFields: {'$a': 1}}                                          | false",
        "{removedFields: ['a.$b']}                                           | false",
        "{truncatedArrays: [{field: 'a..b', newSize: 1}]}                    | false",
        "{updatedFields: {'a.b': 1}, disambiguatedPaths: {'a.b': ['a.b']}}   | false",
        "{updatedFields: {'a.0': 1}, disambiguatedPaths: {'a.0': ['a', '0']}} | true",
        "{updatedFields: {'a.0': 1}, disambiguatedPaths: {'a.0': ['a', 0]}}  | true"
      })
  void detectsChangesThatOperatorsCannotExpress(String description, boolean expressed) {
    assertThat(changes(description) != null).isEqualTo(expressed);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{updatedFields: {a: 1}, truncatedArrays: [{field: 'b', newSize: 1}]} | true",
        "{updatedFields: {a: 1}, removedFields: []}                           | true",
        "{removedFields: ['a']}                                               | false"
      })
  void canRepeatChangesWithoutRemovedFields(String description, boolean repeatable) {
    assertThat(FieldChanges.canBeRepeated(BsonDocument.parse(description))).isEqualTo(repeatable);
  }

  /**
   * If the shard key changes, the document may belong to another shard. A change of a nested field
   * of the key counts, too.
   */
  @ParameterizedTest
  @CsvSource({
    "'{updatedFields: {k: 1}}', true",
    "'{updatedFields: {''k.a'': 1}}', true",
    "'{removedFields: [''k'']}', true",
    "'{updatedFields: {kk: 1}}', false",
    "'{updatedFields: {a: 1}}', false"
  })
  void nestedFieldConcernsShardKey(String description, boolean concerned) {
    assertThat(changes(description).concerns("k")).isEqualTo(concerned);
  }

  @Test
  void parentFieldConcernsNestedShardKey() {
    assertThat(changes("{updatedFields: {k: {a: 1}}}").concerns("k.a")).isTrue();
    assertThat(changes("{updatedFields: {'k.b': 1}}").concerns("k.a")).isFalse();
  }

  @Test
  void joinsOnlySetsInAscendingOrder() {
    assertThat(changes("{updatedFields: {a: 1}}").joined(changes("{updatedFields: {b: 2}}")).set())
        .isEqualTo(BsonDocument.parse("{a: 1, b: 2}"));
    assertThat(changes("{updatedFields: {b: 1}}").joined(changes("{updatedFields: {a: 2}}")))
        .isNull();
    assertThat(changes("{updatedFields: {a: 1}}").joined(changes("{removedFields: ['a']}")))
        .isNull();
    assertThat(changes("{updatedFields: {a: 1}}").joined(changes("{updatedFields: {'b.c': 1}}")))
        .isNull();
  }
}
