package dev.onehop.flink.table;

import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.flink.ChangeStreamSource;
import dev.onehop.flink.TokenOrder;
import dev.onehop.streams.ShardedChangeStream;
import java.io.Serializable;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple5;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.Projection;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.connector.source.abilities.SupportsSourceWatermark;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * A table of a collection's changes. With {@code scan.full-changelog}, it emits the rows before and
 * after each change. Without this option, it emits upserts by {@code _id}.
 */
final class ChangesTable
    implements ScanTableSource,
        SupportsProjectionPushDown,
        SupportsReadingMetadata,
        SupportsSourceWatermark {
  private static final String ID = "_id";

  private final Settings settings;
  private final DataType schema;
  private final ZoneId zone;
  private DataType columns;
  private DataType produced;
  private List<String> metadata = List.of();

  /**
   * The options of the table.
   *
   * @param startSeconds the cluster time to start at, in seconds since 1970; null to start at the
   *     present time
   */
  record Settings(
      String uri,
      String database,
      String collection,
      boolean full,
      @Nullable Long startSeconds,
      int batchSize,
      int splitsPerShard)
      implements Serializable {

    ShardedChangeStream stream() {
      ShardedChangeStream.Builder builder =
          ShardedChangeStream.builder(uri)
              .collection(database, collection)
              .batchSize(batchSize)
              .fullDocument(full ? FullDocument.REQUIRED : FullDocument.UPDATE_LOOKUP)
              .fullDocumentBeforeChange(
                  full ? FullDocumentBeforeChange.REQUIRED : FullDocumentBeforeChange.DEFAULT);
      if (startSeconds != null) {
        builder.startAtOperationTime(new BsonTimestamp(startSeconds.intValue(), 0));
      }
      return builder.build();
    }
  }

  /**
   * @param schema the physical columns of the table
   * @param zone the time zone for times in strings
   */
  ChangesTable(Settings settings, DataType schema, ZoneId zone) {
    this.settings = settings;
    this.schema = schema;
    this.zone = zone;
    this.columns = schema;
    this.produced = schema;
  }

  @Override
  public ChangelogMode getChangelogMode() {
    return settings.full() ? ChangelogMode.all() : ChangelogMode.upsert();
  }

  @Override
  public boolean supportsNestedProjection() {
    return false;
  }

  @Override
  public void applyProjection(int[][] fields, DataType producedType) {
    columns = Projection.of(fields).project(schema);
    produced = producedType;
  }

  @Override
  public Map<String, DataType> listReadableMetadata() {
    return Metadata.types();
  }

  @Override
  public void applyReadableMetadata(List<String> keys, DataType producedType) {
    metadata = keys;
    produced = producedType;
  }

  @Override
  public void applySourceWatermark() {
    // Nothing to do: the source always emits its watermarks.
  }

  @Override
  public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    RowType whole = (RowType) schema.getLogicalType();
    LogicalType idType = whole.getTypeAt(whole.getFieldIndex(ID));
    RowDeserializer deserializer =
        new RowDeserializer(
            RowConverter.of((RowType) columns.getLogicalType(), "", zone),
            BsonConverters.of(idType, ID, zone),
            idType,
            Metadata.of(metadata),
            settings.full(),
            context.createTypeInformation(produced));
    return new Changes(settings, deserializer);
  }

  /**
   * The stream of rows: it reads the source, orders each document's changes and emits their rows.
   */
  private record Changes(Settings settings, RowDeserializer deserializer)
      implements DataStreamScanProvider {

    @Override
    public boolean isBounded() {
      return false;
    }

    @Override
    public DataStream<RowData> produceDataStream(
        ProviderContext context, StreamExecutionEnvironment environment) {
      TypeInformation<Tuple5<String, String, String, String, RowData[]>> type =
          deserializer.producedType();
      Settings from = settings;
      SingleOutputStreamOperator<Tuple5<String, String, String, String, RowData[]>> changes =
          environment.fromSource(
              ChangeStreamSource.of(from::stream, deserializer)
                  .splitsPerShard(from.splitsPerShard()),
              WatermarkStrategy.noWatermarks(),
              from.database() + "." + from.collection(),
              type);
      SingleOutputStreamOperator<Tuple5<String, String, String, String, RowData[]>> ordered =
          changes
              .keyBy(change -> change.f0, Types.STRING)
              .process(new TokenOrder<>(change -> change.f1, type))
              .name("order");
      SingleOutputStreamOperator<RowData> rows =
          DataStreamUtils.reinterpretAsKeyedStream(ordered, change -> change.f0, Types.STRING)
              .process(new OrderedRows(from.full()), deserializer.rowType())
              .name("rows");
      context.generateUid("changes").ifPresent(changes::uid);
      context.generateUid("order").ifPresent(ordered::uid);
      context.generateUid("rows").ifPresent(rows::uid);
      return rows;
    }
  }

  @Override
  public DynamicTableSource copy() {
    ChangesTable copy = new ChangesTable(settings, schema, zone);
    copy.columns = columns;
    copy.produced = produced;
    copy.metadata = metadata;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return "OneHop MongoDB";
  }
}
