package dev.onehop.measure.copying;

import java.util.List;
import org.bson.BsonTimestamp;

/** OneHop or the plain driver inside its {@link ToolMain}. */
interface CopyToolRun extends AutoCloseable {
  /** Copies the documents of collections that exist at the destination. */
  void full(List<String> collections) throws InterruptedException;

  /**
   * Starts to apply the changes of the first collection.
   *
   * @param since the time of the first change; OneHop uses its own checkpoint instead
   */
  void follow(BsonTimestamp since);

  /** The number of changes applied since then. */
  long applied();

  /** Stops applying changes. */
  void unfollow();

  @Override
  void close();
}
