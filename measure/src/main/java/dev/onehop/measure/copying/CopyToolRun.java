package dev.onehop.measure.copying;

import java.util.List;
import java.util.concurrent.ExecutionException;
import org.bson.BsonTimestamp;

/** OneHop or the plain driver within its {@link ToolMain}. */
interface CopyToolRun extends AutoCloseable {
  /** Copies the documents of collections that the destination has already. */
  void full(List<String> collections) throws InterruptedException, ExecutionException;

  /**
   * Begins to apply the changes of the first collection.
   *
   * @param since the time of the first; OneHop has a place of its own
   */
  void follow(BsonTimestamp since);

  /** How many changes were applied since then. */
  long applied();

  /** Ends that. */
  void unfollow();

  @Override
  void close();
}
