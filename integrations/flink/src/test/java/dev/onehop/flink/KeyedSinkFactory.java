package dev.onehop.flink;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * The connector {@code keyed}, which keeps tables in this process. It has the options of the
 * connector {@code jdbc}. The first column is the key.
 */
public final class KeyedSinkFactory implements DynamicTableSinkFactory {
  private static final ConfigOption<String> URL =
      ConfigOptions.key("url").stringType().noDefaultValue();
  private static final ConfigOption<String> TABLE =
      ConfigOptions.key("table-name").stringType().noDefaultValue();

  private static final Map<String, Map<Object, Row>> TABLES = new ConcurrentHashMap<>();

  /** The number of times that a task has started to write. */
  static final AtomicInteger STARTS = new AtomicInteger();

  static Map<Object, Row> table(String name) {
    return TABLES.computeIfAbsent(name, key -> new ConcurrentHashMap<>());
  }

  static void clear() {
    TABLES.clear();
    STARTS.set(0);
  }

  @Override
  public String factoryIdentifier() {
    return "keyed";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(URL, TABLE);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public DynamicTableSink createDynamicTableSink(DynamicTableFactory.Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    return new Table(helper.getOptions().get(TABLE), context.getPhysicalRowDataType());
  }

  private record Table(String name, DataType type) implements DynamicTableSink {

    @Override
    public ChangelogMode getChangelogMode(ChangelogMode requested) {
      return ChangelogMode.upsert();
    }

    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(DynamicTableSink.Context context) {
      return SinkV2Provider.of(new Writers(name, context.createDataStructureConverter(type)));
    }

    @Override
    public DynamicTableSink copy() {
      return this;
    }

    @Override
    public String asSummaryString() {
      return "keyed";
    }
  }

  private record Writers(String name, DynamicTableSink.DataStructureConverter converter)
      implements Sink<RowData> {

    @Override
    public SinkWriter<RowData> createWriter(WriterInitContext context) {
      STARTS.incrementAndGet();
      return new Writer(table(name), converter);
    }
  }

  private record Writer(Map<Object, Row> rows, DynamicTableSink.DataStructureConverter converter)
      implements SinkWriter<RowData> {

    @Override
    public void write(RowData from, SinkWriter.Context context) {
      Row row = (Row) converter.toExternal(from);
      if (row.getKind() == RowKind.DELETE) {
        rows.remove(row.getField(0));
      } else {
        row.setKind(RowKind.INSERT);
        rows.put(row.getField(0), row);
      }
    }

    @Override
    public void flush(boolean endOfInput) {
      // Nothing to do, because each row is written immediately.
    }

    @Override
    public void close() {
      // Nothing to close.
    }
  }
}
