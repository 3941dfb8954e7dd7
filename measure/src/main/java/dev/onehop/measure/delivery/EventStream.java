package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** An open change stream. */
abstract class EventStream implements AutoCloseable {

  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /** Takes events. */
  @FunctionalInterface
  interface Sink {
    /**
     * Takes the next event of a channel. Several threads may call this method at the same time, for
     * different channels. With {@link StreamPath#SHARDS} there is only channel 0, for which several
     * threads may call it at the same time.
     *
     * @param channel the number of the channel, from 0
     */
    void take(int channel, RawBsonDocument event);
  }

  /** Opens a stream. */
  static EventStream open(StreamPath path, StreamRequest request, Sink sink) {
    return switch (path) {
      case MONGOS -> MongosStream.open(request, sink);
      case SHARDS -> DirectStream.shards(request, sink);
      case ORDERED -> DirectStream.ordered(request, sink);
      case DIRECT -> DirectStream.channels(request, sink);
    };
  }

  /** Notes a failure that has ended the stream. Later failures are its consequences. */
  final void failed(Throwable why) {
    failure.compareAndSet(null, why);
  }

  /** The failure that ended the stream; null if there is none. */
  final @Nullable Throwable failure() {
    return failure.get();
  }

  /**
   * Checks that the stream has not failed.
   *
   * @throws Failure with the reason of a failure
   */
  final void check(StreamPath path) {
    Throwable why = failure.get();
    if (why != null) {
      throw Failure.run(
          "the change stream by path " + path.label() + " failed: " + Failure.firstLine(why), why);
    }
  }

  /** Closes the stream. The sink may still receive events that are in flight. */
  @Override
  public abstract void close();
}
