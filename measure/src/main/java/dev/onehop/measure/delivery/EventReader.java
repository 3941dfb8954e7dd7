package dev.onehop.measure.delivery;

import java.util.function.Consumer;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** An open change stream. */
interface EventReader extends AutoCloseable {

  /**
   * Opens one.
   *
   * @param sink takes the events; called by several threads at once if they come in no order
   */
  static EventReader open(StreamPath path, StreamRequest request, Consumer<RawBsonDocument> sink) {
    return switch (path) {
      case MONGOS -> MongosReader.open(request, sink);
      case SHARDS -> ShardsReader.open(request, sink);
      case ORDERED -> OrderedReader.open(request, sink);
    };
  }

  /** Why it has ended by itself; null if it has not. */
  @Nullable Throwable failure();

  @Override
  void close();
}
