package dev.onehop.streams.channel;

import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import java.util.concurrent.TimeoutException;

/** Detects transient failures: a server cannot be reached or is being replaced. */
final class Passing {
  private static final String RETRYABLE = "RetryableWriteError";

  private Passing() {}

  static boolean is(Throwable failure) {
    return failure instanceof MongoSocketException
        || failure instanceof MongoTimeoutException
        || failure instanceof MongoNotPrimaryException
        || failure instanceof MongoNodeIsRecoveringException
        // The driver clears the pool when it loses a connection to the server. Operations that wait
        // for a connection then fail with this exception.
        || failure instanceof MongoConnectionPoolClearedException
        || failure instanceof TimeoutException
        || (failure instanceof MongoException known && known.hasErrorLabel(RETRYABLE));
  }
}
