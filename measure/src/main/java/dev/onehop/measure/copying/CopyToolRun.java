package dev.onehop.measure.copying;

import java.util.List;
import java.util.concurrent.ExecutionException;
import org.bson.BsonTimestamp;

/** A way of copying, within its worker. */
interface CopyToolRun extends AutoCloseable {
  /** Copies the documents of collections that are there already. */
  void full(List<String> collections) throws InterruptedException, ExecutionException;

  /**
   * Begins to apply the changes of the first collection.
   *
   * @param start of these, for a way that does not know
   */
  void follow(BsonTimestamp start);

  /** How many changes were applied since then. */
  long applied();

  /** Ends that. */
  void unfollow();

  @Override
  void close();
}
