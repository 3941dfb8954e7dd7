package dev.onehop.core.bson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldSetTest {
  @Test
  void findsFieldsInOrderOfNames() {
    BsonPath.Located[] found =
        FieldSet.of("c", "a", "none", "b")
            .find(RawBsonDocument.parse("{a: 1, x: {c: 5}, b: {d: 2}, c: 'text', ab: 3}"));
    assertThat(found[0].value().asString().getValue()).isEqualTo("text");
    assertThat(found[1].value().asInt32().getValue()).isEqualTo(1);
    assertThat(found[2]).isNull();
    assertThat(found[3].document()).isEqualTo(BsonDocument.parse("{d: 2}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'text'",
        "'ä€😀'",
        "''",
        "-5",
        "{$numberLong: '5000000000'}",
        "{$numberDouble: '1.5'}",
        "{$timestamp: {t: 7, i: 9}}",
        "{$oid: '0123456789abcdef01234567'}",
        "{$uuid: '73ffd264-44b3-4c69-90e8-e7d1dfc035d4'}",
        "{$date: 12}",
        "true",
        "null",
        "{a: [1]}"
      })
  void readsSameValuesAsDriver(String json) {
    RawBsonDocument raw = RawBsonDocument.parse("{a: 1, v: " + json + ", z: 2}");
    BsonValue read = FieldSet.of("v").find(raw)[0].value();
    assertThat(read).isEqualTo(raw.get("v"));
    assertThat(read.getBsonType()).isEqualTo(raw.get("v").getBsonType());
  }

  @Test
  void rejectsMalformedBytes() {
    byte[] bytes = RawBsonDocument.parse("{a: 1, b: 'text'}").getByteBuffer().array().clone();
    bytes[14] = 100;
    assertThatThrownBy(() -> FieldSet.of("z").find(new RawBsonDocument(bytes)))
        .isInstanceOf(MalformedBsonException.class);
  }
}
