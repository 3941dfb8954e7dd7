package dev.onehop.core.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.bson.SortableKeyBuilder;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardKeyPatternTest {
  @Test
  void keyHasValuesInOrderOfFields() {
    check("{a: 1}", "{b: 2, a: 'x'}", new BsonString("x"));
    check("{b: 1, a: 1}", "{a: 'x', b: 2}", new BsonInt32(2), new BsonString("x"));
    check("{'a.b': 1, c: 1}", "{a: {x: 0, b: 5}, c: 'y'}", new BsonInt32(5), new BsonString("y"));
    check("{'a.b.c': 1}", "{a: {b: {c: {d: 1}}}}", BsonDocument.parse("{d: 1}"));
  }

  @Test
  void missingFieldsAreNull() {
    check("{a: 1, b: 1}", "{b: 1}", BsonNull.VALUE, new BsonInt32(1));
    check("{'a.b': 1}", "{}", BsonNull.VALUE);
    check("{'a.b': 1}", "{a: 5}", BsonNull.VALUE);
    check("{'a.b': 1}", "{a: {}}", BsonNull.VALUE);
    check("{'a.b': 1}", "{'a.b': 5}", BsonNull.VALUE);
  }

  @Test
  void hashesHashedFields() {
    check("{a: 'hashed'}", "{a: 'x'}", hash(new BsonString("x")));
    check("{a: 'hashed'}", "{}", hash(BsonNull.VALUE));
    check("{a: 'hashed', b: 1}", "{a: 7, b: 5}", hash(new BsonInt32(7)), new BsonInt32(5));
    check("{b: 1, 'a.x': 'hashed'}", "{a: {x: 7}, b: 5}", new BsonInt32(5), hash(new BsonInt32(7)));
  }

  @Test
  void descendingFieldsSortInReverse() {
    ShardKeyPattern pattern = ShardKeyPattern.of(BsonDocument.parse("{a: 1, b: -1}"));
    byte[] five = pattern.keyOf(BsonDocument.parse("{a: 1, b: 5}"));
    byte[] six = pattern.keyOf(BsonDocument.parse("{a: 1, b: 6}"));
    assertThat(SortableKey.compare(six, five)).isNegative();
    assertThat(pattern.boundOf(six)).isEqualTo(BsonDocument.parse("{a: 1, b: 6}"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"{a: [1], b: 1}", "{a: {b: [1]}}", "{a: [{b: 1}]}", "{a: {b: []}}"})
  void rejectsArrays(String document) {
    ShardKeyPattern pattern = ShardKeyPattern.of(BsonDocument.parse("{'a.b': 1}"));
    for (BsonDocument form : forms(document)) {
      assertThatThrownBy(() -> pattern.keyOf(form))
          .isInstanceOf(ShardKeyException.class)
          .hasMessageContaining("array")
          .hasMessageContaining("a.b");
    }
    assertThatThrownBy(() -> pattern.keyDocumentOf(BsonDocument.parse(document)))
        .isInstanceOf(ShardKeyException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{a: 2}",
        "{a: 'text'}",
        "{a: true}",
        "{a: null}",
        "{a: 'hashed', b: 'hashed'}",
        "{a: 1, 'a.b': 1}",
        "{'a.b': 1, a: 1}",
        "{'a..b': 1}",
        "{'.a': 1}",
        "{'': 1}"
      })
  void rejectsInvalidPatterns(String pattern) {
    assertThatThrownBy(() -> ShardKeyPattern.of(BsonDocument.parse(pattern)))
        .isInstanceOf(ShardKeyException.class);
  }

  @Test
  void keyDocumentHasFormOfChunkBound() {
    ShardKeyPattern pattern = ShardKeyPattern.of(BsonDocument.parse("{'a.b': 1, c: 'hashed'}"));
    BsonDocument document = BsonDocument.parse("{a: {b: 5}, c: 'x'}");
    BsonDocument key = pattern.keyDocumentOf(document);
    assertThat(key)
        .isEqualTo(
            new BsonDocument("a.b", new BsonInt32(5)).append("c", hash(new BsonString("x"))));
    assertThat(pattern.keyOfBound(key)).isEqualTo(pattern.keyOf(document));
    assertThat(pattern.boundOf(pattern.keyOf(document))).isEqualTo(key);
  }

  @Test
  void rejectsBoundsWithOtherFields() {
    ShardKeyPattern pattern = ShardKeyPattern.of(BsonDocument.parse("{a: 1, b: 1}"));
    for (String bound : new String[] {"{a: 1}", "{b: 1, a: 1}", "{a: 1, b: 1, c: 1}", "{}"}) {
      assertThatThrownBy(() -> pattern.keyOfBound(BsonDocument.parse(bound)))
          .isInstanceOf(ShardKeyException.class)
          .hasMessageContaining("fields");
    }
  }

  @Test
  void patternsWithSameFieldsAreEqual() {
    ShardKeyPattern ints = ShardKeyPattern.of(BsonDocument.parse("{a: 1, b: 'hashed'}"));
    ShardKeyPattern doubles = ShardKeyPattern.of(BsonDocument.parse("{a: 1.0, b: 'hashed'}"));
    assertThat(ints).isEqualTo(doubles).hasSameHashCodeAs(doubles);
    assertThat(ints).isNotEqualTo(ShardKeyPattern.of(BsonDocument.parse("{a: 1, b: 1}")));
    assertThat(ints.paths()).containsExactly("a", "b");
    assertThat(ints.isHashed()).isTrue();
    assertThat(doubles.toBsonDocument()).isEqualTo(BsonDocument.parse("{a: 1.0, b: 'hashed'}"));
  }

  private static void check(String pattern, String document, BsonValue... values) {
    SortableKeyBuilder expected = new SortableKeyBuilder(16);
    for (BsonValue value : values) {
      expected.add(value, false);
    }
    byte[] key = expected.build();
    ShardKeyPattern shardKey = ShardKeyPattern.of(BsonDocument.parse(pattern));
    for (BsonDocument form : forms(document)) {
      assertThat(shardKey.keyOf(form)).as("%s in %s", pattern, form).isEqualTo(key);
    }
  }

  private static BsonDocument[] forms(String document) {
    return new BsonDocument[] {BsonDocument.parse(document), RawBsonDocument.parse(document)};
  }

  private static BsonInt64 hash(BsonValue value) {
    return new BsonInt64(HashedKey.hash(value));
  }
}
