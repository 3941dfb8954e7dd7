package dev.onehop.core.bson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawFieldsTest {
  private static RawBsonDocument raw(String json) {
    return RawBsonDocument.parse(json);
  }

  @Test
  void ignoresNamesInNestedDocuments() {
    assertThat(RawFields.anyNameBeginsWith('$', raw("{a: 1, '': 2, $b: 3}"))).isTrue();
    assertThat(RawFields.anyNameBeginsWith('$', raw("{a: {$b: 1}, 'c$': '$d', e: [{$f: 1}]}")))
        .isFalse();
    assertThat(RawFields.anyNameBeginsWith('$', raw("{}"))).isFalse();
  }

  @Test
  void removesFieldsAndKeepsOrder() {
    BsonDocument rest =
        RawFields.without(
            Set.of("b", "none"), raw("{c: {b: 1}, b: [1, 2], a: 'x', d: {$numberDecimal: '1.0'}}"));
    assertThat(rest.toJson())
        .isEqualTo(BsonDocument.parse("{c: {b: 1}, a: 'x', d: {$numberDecimal: '1.0'}}").toJson());
    assertThat(rest.append("more", rest.get("a"))).hasSize(4);
  }

  /** Subtype 2 has a second length. */
  @ParameterizedTest
  @ValueSource(bytes = {0, 2, 3, 4, 9, -128})
  void binariesOfAllSubtypesAreDecoded(byte subtype) {
    BsonDocument document =
        new BsonDocument("a", new BsonBinary(subtype, new byte[] {1, 2, 3}))
            .append("b", new BsonBinary(subtype, new byte[0]));
    assertThat(RawFields.without(Set.of(), new RawBsonDocument(document, new BsonDocumentCodec())))
        .isEqualTo(document);
  }

  @Test
  void findsDocumentsOnlyInArraysOfDocuments() {
    assertThat(documents("{c: {a: [{b: 1}, {}]}}")).containsExactly(raw("{b: 1}"), raw("{}"));
    assertThat(documents("{c: {a: []}}")).isEmpty();
    assertThat(documents("{c: {a: [{b: 1}, 2]}}")).isNull();
    assertThat(documents("{c: {a: {b: 1}}}")).isNull();
  }

  private static @Nullable List<RawBsonDocument> documents(String json) {
    return Objects.requireNonNull(BsonPath.of("c.a").find(raw(json))).documents();
  }

  @Test
  void rejectsMalformedBytes() {
    RawBsonDocument whole = raw("{a: 'text'}");
    byte[] bytes = whole.getByteBuffer().array().clone();
    bytes[7] = 100;
    assertThatThrownBy(() -> RawFields.without(Set.of(), new RawBsonDocument(bytes)))
        .isInstanceOf(MalformedBsonException.class);
  }
}
