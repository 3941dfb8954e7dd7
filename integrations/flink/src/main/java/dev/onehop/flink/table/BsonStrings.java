package dev.onehop.flink.table;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import org.bson.BsonBinary;
import org.bson.BsonBinarySubType;
import org.bson.BsonDocument;
import org.bson.BsonRegularExpression;
import org.bson.BsonValue;

/**
 * Converts BSON values into the text of {@code STRING} columns. The text is the same as in Flink
 * CDC.
 */
final class BsonStrings {
  private static final String IN_DOCUMENT = "{\"a\": ";

  private BsonStrings() {}

  /**
   * @param zone the time zone for times
   */
  static String of(BsonValue value, ZoneId zone) {
    return switch (value.getBsonType()) {
      case STRING -> value.asString().getValue();
      case OBJECT_ID -> value.asObjectId().getValue().toHexString();
      case INT32 -> Integer.toString(value.asInt32().getValue());
      case INT64 -> Long.toString(value.asInt64().getValue());
      case DOUBLE -> Double.toString(value.asDouble().getValue());
      case DECIMAL128 -> value.asDecimal128().getValue().toString();
      case BOOLEAN -> Boolean.toString(value.asBoolean().getValue());
      case DATE_TIME -> time(Instant.ofEpochMilli(value.asDateTime().getValue()), zone);
      case TIMESTAMP ->
          time(Instant.ofEpochSecond(BsonConverters.seconds(value.asTimestamp())), zone);
      case BINARY -> binary(value.asBinary());
      case DOCUMENT -> value.asDocument().toJson();
      case ARRAY -> array(value);
      case REGULAR_EXPRESSION -> regex(value.asRegularExpression());
      case JAVASCRIPT -> value.asJavaScript().getCode();
      case JAVASCRIPT_WITH_SCOPE -> value.asJavaScriptWithScope().getCode();
      case SYMBOL -> value.asSymbol().getSymbol();
      case DB_POINTER -> value.asDBPointer().getId().toHexString();
      default -> value.getBsonType().name();
    };
  }

  private static String time(Instant instant, ZoneId zone) {
    return DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(instant.atZone(zone));
  }

  private static String binary(BsonBinary binary) {
    return binary.getType() == BsonBinarySubType.UUID_STANDARD.getValue()
        ? binary.asUuid().toString()
        : HexFormat.of().formatHex(binary.getData());
  }

  private static String regex(BsonRegularExpression regex) {
    return "/" + regex.getPattern() + "/" + regex.getOptions();
  }

  /**
   * Returns an array as JSON. Only documents have a method for JSON. This method therefore writes a
   * document with the array as its field, and removes the text around the array.
   */
  private static String array(BsonValue value) {
    String json = new BsonDocument("a", value).toJson();
    return json.substring(IN_DOCUMENT.length(), json.length() - 1);
  }
}
