package dev.onehop.flink.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.api.java.typeutils.ObjectArrayTypeInfo;
import org.apache.flink.api.java.typeutils.TupleTypeInfo;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;

/** A document stays one row when a change of its shard key moves it to another shard. */
class OrderedRowsTest {
  private static final TypeInformation<RowData> ROW =
      InternalTypeInfo.of(
          (RowType) DataTypes.ROW(DataTypes.FIELD("v", DataTypes.STRING())).getLogicalType());
  private static final TypeInformation<Tuple5<String, String, String, String, RowData[]>> CHANGE =
      new TupleTypeInfo<>(
          Types.STRING,
          Types.STRING,
          Types.STRING,
          Types.STRING,
          ObjectArrayTypeInfo.getInfoFor(RowData[].class, ROW));

  private static Tuple5<String, String, String, String, RowData[]> change(
      RowKind kind, String transaction, String key) {
    return Tuple5.of(
        "id",
        "token",
        transaction,
        key,
        new RowData[] {GenericRowData.ofKind(kind, StringData.fromString(key))});
  }

  private static List<String> rows(
      boolean full, List<Tuple5<String, String, String, String, RowData[]>> changes)
      throws Exception {
    return StreamExecutionEnvironment.createLocalEnvironment(1)
        .fromData(changes, CHANGE)
        .keyBy(change -> change.f0, Types.STRING)
        .process(new OrderedRows(full), ROW)
        .executeAndCollect(1 + changes.size())
        .stream()
        .map(row -> row.getRowKind().shortString() + row.getString(0))
        .toList();
  }

  @Test
  void deletionOfOldVersionKeepsRow() throws Exception {
    assertThat(
            rows(
                false,
                List.of(
                    change(RowKind.INSERT, "t1", "b"),
                    change(RowKind.DELETE, "t1", "a"),
                    change(RowKind.DELETE, "t1", "b"),
                    change(RowKind.DELETE, "t2", "b"),
                    change(RowKind.INSERT, "t2", "c"),
                    change(RowKind.UPDATE_AFTER, "", "c"),
                    change(RowKind.DELETE, "", "c"))))
        .containsExactly("+Ib", "-Db", "-Db", "+Ic", "+Uc", "-Dc");
  }

  @Test
  void fullChangelogRetractsOldVersion() throws Exception {
    assertThat(
            rows(
                true,
                List.of(
                    change(RowKind.INSERT, "t1", "b"),
                    change(RowKind.DELETE, "t1", "a"),
                    change(RowKind.DELETE, "t2", "b"))))
        .containsExactly("+Ib", "-Ua", "-Db");
  }

  @Test
  void insertAndDeleteInOneTransactionRemovesRow() throws Exception {
    assertThat(
            rows(
                false,
                List.of(change(RowKind.INSERT, "t1", "b"), change(RowKind.DELETE, "t1", "b"))))
        .containsExactly("+Ib", "-Db");
  }
}
