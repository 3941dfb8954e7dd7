package dev.onehop.flink.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.FlinkRuntimeException;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

/** The rows of events. */
class RowDeserializerTest {
  private static final RowType COLUMNS =
      (RowType)
          DataTypes.ROW(
                  DataTypes.FIELD("amount", DataTypes.INT()),
                  DataTypes.FIELD("_id", DataTypes.BIGINT().notNull()))
              .getLogicalType();
  private static final LogicalType ID = COLUMNS.getTypeAt(1);
  private static final ZoneId ZONE = ZoneOffset.UTC;
  private static final String TOKEN = Checkpoint.before(new BsonTimestamp(9, 12)).low();
  private static final String BEFORE = "fullDocumentBeforeChange: {_id: 5, amount: 1}";
  private static final String AFTER = "fullDocument: {_id: 5, amount: 2}";

  private static List<Tuple5<String, String, String, String, RowData[]>> changes(
      boolean full, List<String> metadata, String event) {
    RowDeserializer deserializer =
        new RowDeserializer(
            RowConverter.of(COLUMNS, "", ZONE),
            BsonConverters.of(ID, "_id", ZONE),
            ID,
            Metadata.of(metadata),
            full,
            InternalTypeInfo.of(COLUMNS));
    List<Tuple5<String, String, String, String, RowData[]>> changes = new ArrayList<>();
    deserializer.deserialize(
        new StreamEvent.Change(
            "one",
            TOKEN,
            RawBsonDocument.parse("{ns: {db: 'shop', coll: 'orders'}, " + event + "}"),
            0,
            Checkpoint.at(TOKEN)),
        new ListCollector<>(changes));
    return changes;
  }

  private static RowData[] rows(boolean full, String event) {
    List<Tuple5<String, String, String, String, RowData[]>> changes =
        changes(full, List.of(), event);
    return changes.isEmpty() ? new RowData[0] : changes.get(0).f4;
  }

  private static RowData row(RowKind kind, Object... fields) {
    return GenericRowData.ofKind(kind, fields);
  }

  private static String event(String operation, String images) {
    return "operationType: '" + operation + "', documentKey: {_id: 5}" + images;
  }

  @Test
  void upsertHasDocumentAndDeletionHasKey() {
    assertThat(rows(false, event("insert", ", " + AFTER)))
        .containsExactly(row(RowKind.INSERT, 2, 5L));
    assertThat(rows(false, event("replace", ", " + AFTER)))
        .containsExactly(row(RowKind.UPDATE_AFTER, 2, 5L));
    assertThat(rows(false, event("update", ", " + AFTER)))
        .containsExactly(row(RowKind.UPDATE_AFTER, 2, 5L));
    assertThat(rows(false, event("delete", ""))).containsExactly(row(RowKind.DELETE, null, 5L));
  }

  @Test
  void eventsWithoutDocumentGiveNoRow() {
    assertThat(rows(false, event("update", ", fullDocument: null"))).isEmpty();
    assertThat(rows(false, event("update", ""))).isEmpty();
    assertThat(rows(false, "operationType: 'drop'")).isEmpty();
    assertThat(rows(true, "operationType: 'invalidate'")).isEmpty();
  }

  @Test
  void fullChangelogHasRowsBeforeAndAfter() {
    assertThat(rows(true, event("insert", ", " + AFTER)))
        .containsExactly(row(RowKind.INSERT, 2, 5L));
    assertThat(rows(true, event("update", ", " + BEFORE + ", " + AFTER)))
        .containsExactly(row(RowKind.UPDATE_BEFORE, 1, 5L), row(RowKind.UPDATE_AFTER, 2, 5L));
    assertThat(rows(true, event("replace", ", " + BEFORE + ", " + AFTER))).hasSize(2);
    assertThat(rows(true, event("delete", ", " + BEFORE)))
        .containsExactly(row(RowKind.DELETE, 1, 5L));
    assertThatThrownBy(() -> rows(true, event("delete", "")))
        .hasMessageContaining("has no fullDocumentBeforeChange, which scan.full-changelog needs");
  }

  @Test
  void metadataFollowColumns() {
    assertThat(
            changes(
                    false,
                    List.of("op_ts", "row_kind", "collection_name", "database_name"),
                    event("delete", ""))
                .get(0)
                .f4)
        .containsExactly(
            row(
                RowKind.DELETE,
                null,
                5L,
                TimestampData.fromEpochMillis(9_012),
                StringData.fromString("-D"),
                StringData.fromString("orders"),
                StringData.fromString("shop")));
  }

  @Test
  void changeHasTransactionAndKey() {
    assertThat(changes(false, List.of(), event("delete", "")))
        .singleElement()
        .satisfies(
            change -> {
              assertThat(change.f0).isEqualTo("5");
              assertThat(change.f1).isEqualTo(TOKEN);
              assertThat(change.f2).isEmpty();
              assertThat(change.f3).isEmpty();
            });
    assertThat(
            changes(
                false,
                List.of(),
                event("delete", ", lsid: {id: 1}, txnNumber: {$numberLong: '3'}")))
        .singleElement()
        .satisfies(
            change -> {
              assertThat(change.f2).contains("3");
              assertThat(BsonDocument.parse(change.f3)).isEqualTo(BsonDocument.parse("{_id: 5}"));
            });
  }

  @Test
  void failureNamesDocumentAndPath() {
    assertThatThrownBy(
            () -> rows(false, event("insert", ", fullDocument: {_id: 5, amount: 'many'}")))
        .isInstanceOf(FlinkRuntimeException.class)
        .hasMessage(
            "shop.orders: the document with the key {\"_id\": 5} doesn't fit the table:"
                + " amount: STRING can't become INT");
    assertThatThrownBy(
            () ->
                rows(
                    false,
                    "operationType: 'delete', documentKey: {_id: {$oid: '65f000000000000000000001'}}"))
        .hasMessageContaining("_id: OBJECT_ID can't become BIGINT NOT NULL");
  }
}
