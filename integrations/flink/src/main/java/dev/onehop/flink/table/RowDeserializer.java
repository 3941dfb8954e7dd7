package dev.onehop.flink.table;

import dev.onehop.flink.ChangeDeserializer;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.api.java.typeutils.ObjectArrayTypeInfo;
import org.apache.flink.api.java.typeutils.TupleTypeInfo;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.StringUtils;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/**
 * Converts each event of a document into a record with five fields: {@code _id} as text, {@code
 * _data} of the resume token, the transaction (empty if there is none), the document's key in a
 * transaction, and one or two rows.
 *
 * @param columns converts documents into the table's physical columns
 * @param id converts {@code _id}, which need not be one of the columns
 * @param idType the type of {@code _id}
 * @param metadata the metadata columns, which follow the physical columns
 * @param full whether the events have the documents before and after each change
 * @param rowType the type of the rows
 */
record RowDeserializer(
    RowConverter columns,
    BsonConverter id,
    LogicalType idType,
    List<Metadata> metadata,
    boolean full,
    TypeInformation<RowData> rowType)
    implements ChangeDeserializer<Tuple5<String, String, String, String, RowData[]>> {

  @Override
  public void deserialize(
      StreamEvent event, Collector<Tuple5<String, String, String, String, RowData[]>> out) {
    if (!(event instanceof StreamEvent.Change change)) {
      throw new IllegalStateException("events are missing: " + event);
    }
    RawBsonDocument document = change.document();
    if (!(document.get("documentKey") instanceof BsonDocument key)) {
      return;
    }
    try {
      // A primary key must not be null in SQL.
      Object idOfRow =
          Objects.requireNonNull(BsonConverters.field(key.get("_id"), id, idType, "_id"));
      List<RowData> rows = rows(change, document.getString("operationType").getValue(), idOfRow);
      if (!rows.isEmpty()) {
        boolean alone = !document.containsKey("txnNumber");
        out.collect(
            Tuple5.of(
                StringUtils.arrayAwareToString(idOfRow),
                change.token(),
                alone ? "" : document.get("lsid") + "/" + document.get("txnNumber"),
                alone ? "" : key.toJson(),
                rows.toArray(RowData[]::new)));
      }
    } catch (WrongValueException wrong) {
      BsonDocument namespace = document.getDocument("ns");
      throw new FlinkRuntimeException(
          "%s.%s: the document with the key %s doesn't fit the table: %s"
              .formatted(
                  namespace.getString("db").getValue(),
                  namespace.getString("coll").getValue(),
                  key.toJson(),
                  wrong.getMessage()),
          wrong);
    }
  }

  private List<RowData> rows(StreamEvent.Change change, String operation, Object idOfRow) {
    List<RowData> rows = new ArrayList<>(2);
    switch (operation) {
      case "insert" -> add(rows, change, RowKind.INSERT, "fullDocument");
      case "update", "replace" -> {
        if (full) {
          add(rows, change, RowKind.UPDATE_BEFORE, "fullDocumentBeforeChange");
        }
        // If the document was deleted in the meantime, the event has no document, and no row is
        // added. The event of the deletion follows.
        add(rows, change, RowKind.UPDATE_AFTER, "fullDocument");
      }
      case "delete" -> {
        if (full) {
          add(rows, change, RowKind.DELETE, "fullDocumentBeforeChange");
        } else {
          rows.add(complete(columns.key("_id", idOfRow, width()), change, RowKind.DELETE));
        }
      }
      default -> {}
    }
    return rows;
  }

  private void add(List<RowData> rows, StreamEvent.Change change, RowKind kind, String image) {
    BsonValue document = change.document().get(image);
    if (document != null && document.isDocument()) {
      rows.add(complete(columns.convert(document, width()), change, kind));
    } else if (full) {
      throw new IllegalStateException(
          "a change of %s has no %s, which scan.full-changelog needs"
              .formatted(change.document().get("documentKey"), image));
    }
  }

  private int width() {
    return columns.size() + metadata.size();
  }

  private GenericRowData complete(GenericRowData row, StreamEvent.Change change, RowKind kind) {
    row.setRowKind(kind);
    for (int i = 0; i < metadata.size(); i++) {
      row.setField(columns.size() + i, metadata.get(i).of(change, kind));
    }
    return row;
  }

  @Override
  public TypeInformation<Tuple5<String, String, String, String, RowData[]>> producedType() {
    return new TupleTypeInfo<>(
        Types.STRING,
        Types.STRING,
        Types.STRING,
        Types.STRING,
        ObjectArrayTypeInfo.getInfoFor(RowData[].class, rowType));
  }
}
