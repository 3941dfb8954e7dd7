package dev.onehop.flink.table;

import dev.onehop.flink.internal.EventTimes;
import dev.onehop.streams.event.StreamEvent;
import java.util.Arrays;
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
  DATABASE_NAME(DataTypes.STRING().notNull()) {
    @Override
    Object of(StreamEvent.Change change, RowKind kind) {
      return namespace(change, "db");
    }
  },
  COLLECTION_NAME(DataTypes.STRING().notNull()) {
    @Override
    Object of(StreamEvent.Change change, RowKind kind) {
      return namespace(change, "coll");
    }
  },
  /** The time of Flink's records, which the watermarks of the source are for. */
  OP_TS(DataTypes.TIMESTAMP_LTZ(3).notNull()) {
    @Override
    Object of(StreamEvent.Change change, RowKind kind) {
      return TimestampData.fromEpochMillis(EventTimes.of(change.token()));
    }
  },
  ROW_KIND(DataTypes.STRING().notNull()) {
    @Override
    Object of(StreamEvent.Change change, RowKind kind) {
      return StringData.fromString(kind.shortString());
    }
  };

  private final DataType type;

  Metadata(DataType type) {
    this.type = type;
  }

  /** The value for a row of an event. */
  abstract Object of(StreamEvent.Change change, RowKind kind);

  private static StringData namespace(StreamEvent.Change change, String part) {
    return StringData.fromString(change.document().getDocument("ns").getString(part).getValue());
  }

  private String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  static Map<String, DataType> types() {
    Map<String, DataType> types = new LinkedHashMap<>();
    Arrays.stream(values()).forEach(each -> types.put(each.key(), each.type));
    return types;
  }

  static List<Metadata> of(List<String> keys) {
    return keys.stream().map(key -> valueOf(key.toUpperCase(Locale.ROOT))).toList();
  }
}
