package dev.onehop.flink.table;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;

/**
 * Emits the rows of changes, which arrive in the order of their tokens for each {@code _id}.
 *
 * <p>A change of the shard key may move a document to another shard: one transaction deletes it on
 * one shard and inserts it on the other. Each shard has its own cluster time for the transaction,
 * and the deletion may therefore come last. The insertion has then already replaced the old row,
 * and the deletion must not remove the new row. If the late deletion has the whole old row, this
 * row is emitted as {@code UPDATE_BEFORE}. If the late deletion has only the key, it is left out.
 */
final class OrderedRows
    extends KeyedProcessFunction<
        String, Tuple5<String, String, String, String, RowData[]>, RowData> {
  private static final long serialVersionUID = 1L;

  private final boolean full;
  private transient ValueState<Tuple2<String, String>> arrived;

  /**
   * @param full whether a deletion has the whole old row; false if it has only the key
   */
  OrderedRows(boolean full) {
    this.full = full;
  }

  @Override
  public void open(OpenContext context) {
    arrived =
        getRuntimeContext()
            .getState(
                new ValueStateDescriptor<>("arrived", Types.TUPLE(Types.STRING, Types.STRING)));
  }

  @Override
  public void processElement(
      Tuple5<String, String, String, String, RowData[]> change,
      Context context,
      Collector<RowData> out)
      throws Exception {
    RowKind kind = change.f4[0].getRowKind();
    if (kind == RowKind.INSERT && !change.f2.isEmpty()) {
      arrived.update(Tuple2.of(change.f2, change.f3));
    } else if (kind == RowKind.DELETE) {
      Tuple2<String, String> insert = arrived.value();
      arrived.clear();
      if (insert != null && insert.f0.equals(change.f2) && !insert.f1.equals(change.f3)) {
        if (!full) {
          return;
        }
        change.f4[0].setRowKind(RowKind.UPDATE_BEFORE);
      }
    }
    for (RowData row : change.f4) {
      out.collect(row);
    }
  }
}
