package dev.onehop.flink.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the conversion of BSON values into values of SQL types. */
class BsonConvertersTest {
  private static final ZoneId ZONE = ZoneId.of("+02:00");

  private static Object convert(DataType type, String json) {
    RowType row = (RowType) DataTypes.ROW(DataTypes.FIELD("a", type)).getLogicalType();
    return RowConverter.of(row, "", ZONE)
        .convert(RawBsonDocument.parse("{a: " + json + "}"))
        .getField(0);
  }

  @Test
  void convertsNumbers() {
    assertThat(convert(DataTypes.INT(), "7")).isEqualTo(7);
    assertThat(convert(DataTypes.INT(), "{$numberLong: '-7'}")).isEqualTo(-7);
    assertThat(convert(DataTypes.INT(), "{$numberDecimal: '7.0'}")).isEqualTo(7);
    assertThat(convert(DataTypes.BIGINT(), "7.0")).isEqualTo(7L);
    assertThat(convert(DataTypes.BIGINT(), "{$numberDecimal: '-0'}")).isEqualTo(0L);
    assertThat(convert(DataTypes.BIGINT(), "{$numberLong: '9223372036854775807'}"))
        .isEqualTo(Long.MAX_VALUE);
    assertThat(convert(DataTypes.DOUBLE(), "7")).isEqualTo(7.0);
    assertThat(convert(DataTypes.DOUBLE(), "{$numberDecimal: '0.5'}")).isEqualTo(0.5);
    assertThat(convert(DataTypes.DOUBLE(), "{$numberDouble: 'NaN'}")).isEqualTo(Double.NaN);
    assertThat(convert(DataTypes.DECIMAL(10, 2), "{$numberDecimal: '12.345'}"))
        .isEqualTo(DecimalData.fromBigDecimal(new BigDecimal("12.35"), 10, 2));
    assertThat(convert(DataTypes.DECIMAL(10, 2), "0.1"))
        .isEqualTo(DecimalData.fromBigDecimal(new BigDecimal("0.10"), 10, 2));
    assertThat(convert(DataTypes.DECIMAL(20, 0), "{$numberLong: '9223372036854775807'}"))
        .isEqualTo(DecimalData.fromBigDecimal(BigDecimal.valueOf(Long.MAX_VALUE), 20, 0));
  }

  @Test
  void convertsOtherScalars() {
    assertThat(convert(DataTypes.BOOLEAN(), "true")).isEqualTo(true);
    assertThat((byte[]) convert(DataTypes.BYTES(), "{$binary: {base64: 'AQI=', subType: '00'}}"))
        .containsExactly(1, 2);
    assertThat(convert(DataTypes.TIMESTAMP_LTZ(3), "{$date: '2026-01-02T03:04:05.678Z'}"))
        .isEqualTo(TimestampData.fromEpochMillis(1767323045678L));
    assertThat(convert(DataTypes.TIMESTAMP_LTZ(3), "{$timestamp: {t: 3000000000, i: 7}}"))
        .isEqualTo(TimestampData.fromEpochMillis(3_000_000_000_000L));
    assertThat(convert(DataTypes.STRING(), "null")).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'text' | text",
        "{$oid: '65f000000000000000000001'} | 65f000000000000000000001",
        "5 | 5",
        "{$numberLong: '5'} | 5",
        "5.5 | 5.5",
        "{$numberDecimal: '5.50'} | 5.50",
        "false | false",
        "{$date: '2026-01-02T03:04:05.678Z'} | 2026-01-02T05:04:05.678+02:00",
        "{$timestamp: {t: 60, i: 1}} | 1970-01-01T02:01:00+02:00",
        "{$uuid: '00112233-4455-6677-8899-aabbccddeeff'} | 00112233-4455-6677-8899-aabbccddeeff",
        "{$binary: {base64: 'AQI=', subType: '00'}} | 0102",
        "{b: [1, {c: 2}]} | {\"b\": [1, {\"c\": 2}]}",
        "[1, 'x'] | [1, \"x\"]",
        "{$regularExpression: {pattern: 'p', options: 'i'}} | /p/i",
        "{$code: 'f()'} | f()",
        "{$symbol: 's'} | s",
        "{$minKey: 1} | MIN_KEY",
        "{$maxKey: 1} | MAX_KEY",
      })
  void convertsEveryTypeToString(String json, String text) {
    assertThat(convert(DataTypes.STRING(), json)).isEqualTo(StringData.fromString(text));
  }

  @Test
  void convertsDocumentsAndArrays() {
    DataType lines =
        DataTypes.ARRAY(
            DataTypes.ROW(
                DataTypes.FIELD("sku", DataTypes.STRING()),
                DataTypes.FIELD("pieces", DataTypes.INT())));

    assertThat(convert(lines, "[{pieces: 2, other: 1, sku: 'x'}, {}, null]"))
        .isEqualTo(
            new GenericArrayData(
                new Object[] {
                  GenericRowData.of(StringData.fromString("x"), 2),
                  GenericRowData.of(null, null),
                  null
                }));
    Map<Object, Object> map = new HashMap<>();
    map.put(StringData.fromString("b"), new GenericArrayData(new Long[] {1L}));
    map.put(StringData.fromString("c"), null);
    assertThat(
            convert(
                DataTypes.MAP(DataTypes.STRING(), DataTypes.ARRAY(DataTypes.BIGINT())),
                "{b: [1], c: null}"))
        .isEqualTo(new GenericMapData(map));
  }

  @Test
  void rejectsUnsuitableValueWithPath() {
    assertRejected(DataTypes.INT(), "'5'", "a: STRING can't become INT");
    assertRejected(DataTypes.INT(), "2147483648.0", "a: DOUBLE 2.147483648E9 can't become INT");
    assertRejected(
        DataTypes.INT(), "{$numberLong: '2147483648'}", "a: INT64 2147483648 can't become INT");
    assertRejected(DataTypes.BIGINT(), "1.5", "a: DOUBLE 1.5 can't become BIGINT");
    assertRejected(
        DataTypes.BIGINT(), "{$numberDouble: 'NaN'}", "a: DOUBLE NaN can't become BIGINT");
    assertRejected(DataTypes.BOOLEAN(), "1", "a: INT32 1 can't become BOOLEAN");
    assertRejected(DataTypes.DECIMAL(3, 1), "100", "a: INT32 100 can't become DECIMAL(3, 1)");
    assertRejected(
        DataTypes.DECIMAL(3, 1),
        "{$numberDecimal: 'Infinity'}",
        "a: DECIMAL128 Infinity can't become DECIMAL(3, 1)");
    assertRejected(DataTypes.TIMESTAMP_LTZ(3), "5", "a: INT32 5 can't become TIMESTAMP_LTZ(3)");
    assertRejected(DataTypes.BYTES(), "'x'", "a: STRING can't become BYTES");
    assertRejected(DataTypes.ARRAY(DataTypes.INT()), "[1, 'x']", "a[1]: STRING can't become INT");
    assertRejected(DataTypes.ARRAY(DataTypes.INT()), "{}", "a: DOCUMENT can't become ARRAY<INT>");
    assertRejected(DataTypes.INT().notNull(), "null", "a: there is no value for INT NOT NULL");
    DataType row = DataTypes.ROW(DataTypes.FIELD("c", DataTypes.INT()));
    assertRejected(row, "[]", "a: ARRAY can't become a ROW");
    assertRejected(DataTypes.ARRAY(row), "[{}, {c: true}]", "a[1].c: BOOLEAN can't become INT");
    assertRejected(
        DataTypes.MAP(DataTypes.STRING(), row), "{b: {c: {}}}", "a.b.c: DOCUMENT can't become INT");
  }

  private static void assertRejected(DataType type, String json, String message) {
    assertThatThrownBy(() -> convert(type, json))
        .isInstanceOf(WrongValueException.class)
        .hasMessage(message);
  }

  @Test
  void rejectsUnsupportedTypeWithPath() {
    RowType row =
        (RowType)
            DataTypes.ROW(
                    DataTypes.FIELD(
                        "a",
                        DataTypes.ARRAY(DataTypes.ROW(DataTypes.FIELD("b", DataTypes.DATE())))))
                .getLogicalType();

    assertThatThrownBy(() -> RowConverter.of(row, "", ZONE))
        .isInstanceOf(ValidationException.class)
        .hasMessageStartingWith("a[].b can't be DATE; the types are STRING, ");
    assertThatThrownBy(() -> convert(DataTypes.MAP(DataTypes.INT(), DataTypes.INT()), "{}"))
        .isInstanceOf(ValidationException.class)
        .hasMessage("a: the keys of a MAP can only be STRING");
  }
}
