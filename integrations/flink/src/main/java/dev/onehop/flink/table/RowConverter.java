package dev.onehop.flink.table;

import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.bson.BsonValue;

/** Converts documents into rows. A column gets the field with the column's name. */
final class RowConverter implements BsonConverter {
  private static final long serialVersionUID = 1L;

  private final RowType type;
  private final List<String> names;
  private final HashMap<String, Integer> places = new HashMap<>();
  private final BsonConverter[] converters;

  private RowConverter(RowType type, BsonConverter[] converters) {
    this.type = type;
    this.names = type.getFieldNames();
    this.converters = converters;
    names.forEach(name -> places.put(name, places.size()));
  }

  static RowConverter of(RowType type, String path, ZoneId zone) {
    return new RowConverter(
        type,
        type.getFields().stream()
            .map(
                field ->
                    BsonConverters.of(
                        field.getType(),
                        path.isEmpty() ? field.getName() : path + "." + field.getName(),
                        zone))
            .toArray(BsonConverter[]::new));
  }

  int size() {
    return converters.length;
  }

  @Override
  public GenericRowData convert(BsonValue value) {
    return convert(value, converters.length);
  }

  /**
   * Converts a document into a row with room for more columns.
   *
   * @param columns the number of the row's columns
   */
  GenericRowData convert(BsonValue value, int columns) {
    if (!value.isDocument()) {
      throw new WrongValueException(value.getBsonType() + " can't become a ROW");
    }
    BsonValue[] found = new BsonValue[converters.length];
    for (Map.Entry<String, BsonValue> field : value.asDocument().entrySet()) {
      Integer place = places.get(field.getKey());
      if (place != null) {
        found[place] = field.getValue();
      }
    }
    GenericRowData row = new GenericRowData(columns);
    for (int i = 0; i < found.length; i++) {
      LogicalType column = type.getTypeAt(i);
      row.setField(i, BsonConverters.field(found[i], converters[i], column, names.get(i)));
    }
    return row;
  }

  /** Returns a row that has only the key. */
  GenericRowData key(String name, Object key, int columns) {
    GenericRowData row = new GenericRowData(columns);
    Integer place = places.get(name);
    if (place != null) {
      row.setField(place, key);
    }
    return row;
  }
}
