package dev.onehop.flink;

import dev.onehop.streams.event.StreamEvent;
import java.io.Serializable;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.util.Collector;

/**
 * Makes records of events. One instance is used by one thread at a time.
 *
 * @param <T> the records
 */
public interface ChangeDeserializer<T> extends Serializable {

  /**
   * Makes the records of an event.
   *
   * @param event a {@link StreamEvent.Change}, or a {@link StreamEvent.TooLarge} or {@link
   *     StreamEvent.HistoryLost}, which stand for what is missing
   * @param out takes none, one or several records; all have the event's timestamp
   * @throws Exception fails the job, which Flink then restarts as it is set to
   */
  void deserialize(StreamEvent event, Collector<T> out) throws Exception;

  /** What type the records have. */
  TypeInformation<T> producedType();

  /**
   * Gives each event as the server sent it in relaxed Extended JSON. Fails the job when events are
   * missing.
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
