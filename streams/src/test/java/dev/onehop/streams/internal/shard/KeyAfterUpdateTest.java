package dev.onehop.streams.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The filter that finds a document after an update of its shard key. */
class KeyAfterUpdateTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{_id: 1}             | {_id: 1}         | {n: 2}           | []",
        "{k: 1, _id: 1}       | {k: 1, _id: 1}   | {n: 2, kk: 3}    | ['m']",
        "{k: 1, _id: 1}       | {k: 2, _id: 1}   | {k: 2}           | []",
        "{k: 1, _id: 1}       | {_id: 1}         | {}               | ['k']",
        "{k: {x: 1}, _id: 1}  | {_id: 1}         | {'k.x': 2}       | []",
        "{'k.x': 1, _id: 1}   | {'k.x': 2, _id: 1} | {'k.x': 2}     | []",
        "{'k.x': 1, _id: 1}   | {_id: 1}         | {k: {x: 2}}      | []",
        "{'k.x': 1, j: 3, _id: 1} | {j: 3, _id: 1} | {}             | ['k']",
      })
  void filterHasKeyAfterUpdate(String before, String filter, String updated, String removed) {
    RawBsonDocument event =
        RawBsonDocument.parse(
            "{documentKey: %s, updateDescription: {updatedFields: %s, removedFields: %s}}"
                .formatted(before, updated, removed));

    assertThat(KeyAfterUpdate.filter(event)).isEqualTo(BsonDocument.parse(filter));
  }

  @Test
  void usesDocumentKeyWithoutDescription() {
    BsonDocument key = BsonDocument.parse("{k: 1, _id: 1}");

    assertThat(KeyAfterUpdate.filter(new BsonDocument("documentKey", key))).isEqualTo(key);
  }
}
