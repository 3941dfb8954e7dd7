package dev.onehop.flink;

import dev.onehop.flink.internal.EventTimes;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.function.SerializableFunction;

/**
 * Emits the records of each key in the order of their events, also across shards. It keeps each
 * record until the watermark has passed the record's timestamp. The input is the stream of a {@link
 * ChangeStreamSource} with the source's timestamps, keyed by the document's key:
 *
 * <pre>{@code
 * records.keyBy(...).process(new TokenOrder<>(record -> record.token(), type))
 * }</pre>
 *
 * @param <K> the type of keys
 * @param <T> the type of records
 */
public final class TokenOrder<K, T> extends KeyedProcessFunction<K, T, T>
    implements ResultTypeQueryable<T> {
  private static final long serialVersionUID = 1L;

  private final SerializableFunction<T, String> token;
  private final TypeInformation<T> type;
  private transient MapState<String, T> waiting;

  /**
   * @param token returns {@code _data} of the resume token of a record's event; unique among the
   *     records of a key
   * @param type the type of the records
   */
  public TokenOrder(SerializableFunction<T, String> token, TypeInformation<T> type) {
    this.token = Objects.requireNonNull(token, "token");
    this.type = Objects.requireNonNull(type, "type");
  }

  @Override
  public TypeInformation<T> getProducedType() {
    return type;
  }

  @Override
  public void open(OpenContext context) {
    waiting =
        getRuntimeContext().getMapState(new MapStateDescriptor<>("waiting", Types.STRING, type));
  }

  @Override
  public void processElement(T value, Context context, Collector<T> out) throws Exception {
    long time = context.timestamp();
    if (time <= context.timerService().currentWatermark()) {
      // The watermark waits for every shard, so a late record shows a defect of the source.
      throw new IllegalStateException("the record is behind the watermark: " + value);
    }
    waiting.put(token.apply(value), value);
    context.timerService().registerEventTimeTimer(time);
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<T> out) throws Exception {
    TreeMap<String, T> due = new TreeMap<>();
    for (var entry : waiting.entries()) {
      if (EventTimes.of(entry.getKey()) <= timestamp) {
        due.put(entry.getKey(), entry.getValue());
      }
    }
    for (var entry : due.entrySet()) {
      out.collect(entry.getValue());
      waiting.remove(entry.getKey());
    }
  }
}
