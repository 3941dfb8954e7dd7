package dev.onehop.ycsb;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoServerUnavailableException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import java.util.Set;
import org.bson.BSONException;
import site.ycsb.Status;

/**
 * Translates failures of the driver into YCSB's statuses.
 *
 * <p>The codes are from the server's {@code src/mongo/base/error_codes.yml}.
 */
final class Statuses {
  private static final Set<Integer> FORBIDDEN =
      Set.of(
          13, // Unauthorized
          18, // AuthenticationFailed
          8000); // AtlasError, mostly a missing right

  private static final Set<Integer> UNAVAILABLE =
      Set.of(
          6, // HostUnreachable
          7, // HostNotFound
          50, // MaxTimeMSExpired
          63, // StaleShardVersion
          89, // NetworkTimeout
          91, // ShutdownInProgress
          133, // FailedToSatisfyReadPreference
          150, // StaleEpoch
          189, // PrimarySteppedDown
          202, // NetworkInterfaceExceededTimeLimit
          249, // StaleDbVersion
          262, // ExceededTimeLimit
          9001, // SocketException
          10107, // NotWritablePrimary
          11600, // InterruptedAtShutdown
          11602, // InterruptedDueToReplStateChange
          13388, // StaleConfig
          13435, // NotPrimaryNoSecondaryOk
          13436); // NotPrimaryOrSecondary

  private static final Set<Integer> BAD_REQUEST =
      Set.of(
          2, // BadValue
          9, // FailedToParse
          14, // TypeMismatch
          52, // DollarPrefixedFieldName
          73); // InvalidNamespace

  private Statuses() {}

  static Status of(RuntimeException failure) {
    if (failure instanceof MongoSecurityException) {
      return Status.FORBIDDEN;
    }
    // A wait-queue timeout and a server selection timeout are both a MongoTimeoutException.
    if (failure instanceof MongoTimeoutException
        || failure instanceof MongoExecutionTimeoutException
        || failure instanceof MongoSocketException
        || failure instanceof MongoServerUnavailableException
        || failure instanceof MongoConnectionPoolClearedException
        || failure instanceof MongoNotPrimaryException
        || failure instanceof MongoNodeIsRecoveringException) {
      return Status.SERVICE_UNAVAILABLE;
    }
    if (failure instanceof MongoBulkWriteException bulk && !bulk.getWriteErrors().isEmpty()) {
      return ofCode(bulk.getWriteErrors().get(0).getCode());
    }
    if (failure instanceof MongoException mongo) {
      return ofCode(mongo.getCode());
    }
    if (failure instanceof BSONException || failure instanceof IllegalArgumentException) {
      return Status.BAD_REQUEST;
    }
    return Status.ERROR;
  }

  private static Status ofCode(int code) {
    if (FORBIDDEN.contains(code)) {
      return Status.FORBIDDEN;
    }
    if (UNAVAILABLE.contains(code)) {
      return Status.SERVICE_UNAVAILABLE;
    }
    return BAD_REQUEST.contains(code) ? Status.BAD_REQUEST : Status.ERROR;
  }
}
