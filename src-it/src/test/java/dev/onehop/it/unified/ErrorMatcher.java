package dev.onehop.it.unified;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoGridFSException;
import com.mongodb.MongoOperationTimeoutException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoWriteConcernException;
import com.mongodb.MongoWriteException;
import java.util.Locale;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Compares an operation's exception with the expected one. */
final class ErrorMatcher {
  private final Matcher matcher;

  ErrorMatcher(Matcher matcher) {
    this.matcher = matcher;
  }

  /**
   * @throws AssertionError if the exceptions differ; its cause is the actual exception
   */
  void matches(BsonDocument expected, Throwable error) {
    try {
      expected.forEach((name, value) -> match(name, value, error));
    } catch (AssertionError e) {
      throw new AssertionError(
          "%s%n expected: %s%n actual: %s".formatted(e.getMessage(), expected, error), error);
    }
  }

  private void match(String name, BsonValue expected, Throwable error) {
    switch (name) {
      case "isError" -> {}
      case "isClientError" -> equal(name, expected.asBoolean().getValue(), isClientError(error));
      case "isTimeoutError" -> equal(name, expected.asBoolean().getValue(), isTimeout(error));
      case "errorContains" -> {
        String text = expected.asString().getValue().toLowerCase(Locale.ROOT);
        if (!String.valueOf(error.getMessage()).toLowerCase(Locale.ROOT).contains(text)) {
          throw new AssertionError("the message does not contain: " + text);
        }
      }
      case "errorCode" -> equal(name, expected.asNumber().intValue(), code(error));
      case "errorCodeName" -> equal(name, expected.asString().getValue(), codeName(error));
      case "errorLabelsContain" -> labels(expected, error, true);
      case "errorLabelsOmit" -> labels(expected, error, false);
      case "errorResponse" -> matcher.matches(expected, response(error), "the error's reply");
      case "expectResult" ->
          matcher.matches(
              expected,
              error instanceof MongoBulkWriteException bulk
                  ? Results.of(bulk.getWriteResult())
                  : null,
              "the error's result");
      default -> throw new AssertionError("the runner does not know " + name);
    }
  }

  private static void equal(String name, Object expected, @Nullable Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError("%s is %s and should be %s".formatted(name, actual, expected));
    }
  }

  private static void labels(BsonValue expected, Throwable error, boolean wanted) {
    for (BsonValue label : expected.asArray()) {
      boolean has =
          error instanceof MongoException e && e.hasErrorLabel(label.asString().getValue());
      if (has != wanted) {
        throw new AssertionError(
            "the error has %sthe label %s"
                .formatted(has ? "" : "not ", label.asString().getValue()));
      }
    }
  }

  private static boolean isClientError(Throwable error) {
    return error instanceof MongoClientException
        || error instanceof IllegalArgumentException
        || error instanceof IllegalStateException
        || error instanceof MongoSocketException
        || error instanceof MongoGridFSException
        || isTimeout(error);
  }

  private static boolean isTimeout(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof MongoOperationTimeoutException) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable Integer code(Throwable error) {
    return error instanceof MongoException e ? (Integer) e.getCode() : null;
  }

  private static @Nullable String codeName(Throwable error) {
    if (error instanceof MongoCommandException e) {
      return e.getErrorCodeName();
    }
    if (error instanceof MongoWriteConcernException e) {
      return e.getWriteConcernError().getCodeName();
    }
    return error instanceof MongoExecutionTimeoutException ? "MaxTimeMSExpired" : null;
  }

  private static BsonDocument response(Throwable error) {
    if (error instanceof MongoCommandException e) {
      return e.getResponse();
    }
    if (error instanceof MongoWriteException e) {
      return new BsonDocument("code", new BsonInt32(e.getCode()))
          .append("errmsg", new BsonString(e.getError().getMessage()))
          .append("errInfo", e.getError().getDetails());
    }
    throw new AssertionError("an error without a reply");
  }
}
