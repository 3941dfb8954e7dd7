package dev.onehop.flink;

import dev.onehop.streams.event.StreamEvent;
import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.util.Collector;

/**
 * Converts events into records. One instance is used by one thread at a time.
 *
 * @param <T> the type of records
 */
public interface ChangeDeserializer<T> extends Serializable {

  /**
   * Converts an event into records.
   *
   * @param event a {@link StreamEvent.Change}, or a {@link StreamEvent.TooLarge} or {@link
   *     StreamEvent.HistoryLost} for missing events
   * @param out receives none, one or several records; all have the event's timestamp
   * @throws Exception if the event cannot be converted; the job then fails, and Flink restarts the
   *     job by the job's restart strategy
   */
  void deserialize(StreamEvent event, Collector<T> out) throws Exception;

  /** The type of the records. */
  TypeInformation<T> producedType();

  /**
   * Converts each event into relaxed Extended JSON, as the server sent it. The job fails when
   * events are missing.
   */
  static ChangeDeserializer<String> json() {
    return new ChangeDeserializer<>() {
      private static final long serialVersionUID = 1L;

      @Override
      public void deserialize(StreamEvent event, Collector<String> out) {
        if (!(event instanceof StreamEvent.Change change)) {
          throw new IllegalStateException("events are missing: " + event);
        }
        out.collect(change.document().toJson());
      }

      @Override
      public TypeInformation<String> producedType() {
        return Types.STRING;
      }
    };
  }
}
