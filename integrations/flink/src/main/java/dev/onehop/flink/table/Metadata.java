package dev.onehop.flink.table;

import dev.onehop.flink.internal.EventTimes;
import dev.onehop.streams.event.StreamEvent;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.RowKind;

/** The metadata columns, with the names and types that they have in Flink CDC. */
enum Metadata {
  DATABASE_NAME,
  COLLECTION_NAME,
  OP_TS,
  ROW_KIND;

  /** Returns this column's value for a row of an event. */
  Object of(StreamEvent.Change change, RowKind kind) {
    return switch (this) {
      case DATABASE_NAME -> namespace(change, "db");
      case COLLECTION_NAME -> namespace(change, "coll");
      // The timestamp of the record in Flink. The source's watermarks refer to this time.
      case OP_TS -> TimestampData.fromEpochMillis(EventTimes.of(change.token()));
      case ROW_KIND -> StringData.fromString(kind.shortString());
    };
  }

  private static StringData namespace(StreamEvent.Change change, String part) {
    return StringData.fromString(change.document().getDocument("ns").getString(part).getValue());
  }

  static Map<String, DataType> types() {
    Map<String, DataType> types = new LinkedHashMap<>();
    for (Metadata each : values()) {
      DataType type = each == OP_TS ? DataTypes.TIMESTAMP_LTZ(3) : DataTypes.STRING();
      types.put(each.name().toLowerCase(Locale.ROOT), type.notNull());
    }
    return types;
  }

  static List<Metadata> of(List<String> keys) {
    return keys.stream().map(key -> valueOf(key.toUpperCase(Locale.ROOT))).toList();
  }
}
