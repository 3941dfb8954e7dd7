package dev.onehop.copy.internal.structure;

import com.mongodb.MongoException;
import dev.onehop.wire.message.CommandFailure;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;

/** Takes documents of a collection at random. */
public final class RandomSample {
  // There is no mongos to merge what several shards have taken (115). A random cursor gave
  // documents
  // that were taken already, a hundred times in a row (28799,
  // DocumentSourceSampleFromRandomCursor):
  // pages of a new collection may hold few, and its count may be wrong.
  private static final Set<Integer> NO_SAMPLE = Set.of(115, 28_799);

  private RandomSample() {}

  /** Reads documents by way of a pipeline. */
  @FunctionalInterface
  public interface Read<T> {
    /**
     * Reads them.
     *
     * @param first the first stage of the pipeline
     */
    T by(BsonDocument first) throws InterruptedException;
  }

  /**
   * Reads some documents. Where the servers can't take them at random, they read all for this.
   *
   * @param count how many, about
   * @param of how many there are, about
   */
  public static <T> T take(int count, long of, Read<T> read) throws InterruptedException {
    try {
      return read.by(new BsonDocument("$sample", new BsonDocument("size", new BsonInt32(count))));
    } catch (RuntimeException failure) {
      if (!NO_SAMPLE.contains(code(failure))) {
        throw failure;
      }
      double rate = Math.min(1, (double) count / Math.max(1, of));
      return read.by(
          new BsonDocument("$match", new BsonDocument("$sampleRate", new BsonDouble(rate))));
    }
  }

  private static int code(RuntimeException failure) {
    if (failure instanceof CommandFailure refused) {
      return refused.code();
    }
    return failure instanceof MongoException refused ? refused.getCode() : 0;
  }
}
