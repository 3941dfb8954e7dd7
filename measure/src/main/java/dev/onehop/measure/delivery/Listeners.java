package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;
import org.bson.RawBsonDocument;

/** The streams of all paths, side by side, which see what is written. */
interface Listeners extends AutoCloseable {

  /** Takes what a path has seen. */
  @FunctionalInterface
  interface Sink {
    /**
     * Takes an item; called by several threads.
     *
     * @param seenMicros when it was seen, by {@link SteadyClock}
     */
    void take(StreamPath path, Item item, long seenMicros);
  }

  /**
   * Fails if a stream has.
   *
   * @throws Failure why
   */
  void check();

  @Override
  void close();

  /** Opens the streams in this process. */
  static Listeners here(StreamRequest request, Sink sink) {
    return Here.open(request, sink);
  }

  /** In this process. */
  final class Here implements Listeners {
    private final Map<StreamPath, EventReader> readers = new EnumMap<>(StreamPath.class);

    private Here() {}

    private static Here open(StreamRequest request, Sink sink) {
      Here here = new Here();
      try {
        for (StreamPath path : StreamPath.values()) {
          here.readers.put(path, EventReader.open(path, request, taking(path, sink)));
        }
        return here;
      } catch (RuntimeException e) {
        here.close();
        throw e;
      }
    }

    private static Consumer<RawBsonDocument> taking(StreamPath path, Sink sink) {
      return event -> {
        long seen = SteadyClock.micros();
        Item item = Item.ofEvent(event);
        if (item != null) {
          sink.take(path, item, seen);
        }
      };
    }

    @Override
    public void check() {
      readers.forEach(
          (path, reader) -> {
            Throwable why = reader.failure();
            if (why != null) {
              throw Failure.run(
                  "the change stream by path " + path.label() + ": " + Failure.firstLine(why), why);
            }
          });
    }

    @Override
    public void close() {
      readers.values().forEach(EventReader::close);
    }
  }
}
