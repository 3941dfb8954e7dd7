package dev.onehop.ycsb;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteException;
import com.mongodb.bulk.BulkWriteError;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Descriptions of failures in one line. */
final class Failures {
  // A server selection timeout has the reason for each server only in its message.
  private static final Pattern INNERMOST_CAUSE =
      Pattern.compile("caused by \\{(?:[\\w$]+\\.)*([\\w$]+)(?:: ([^{}]*))?}");

  private Failures() {}

  /** Describes why the cluster of {@code options} cannot be used. */
  static String connecting(BindingOptions options, Throwable failure) {
    if (failure instanceof InvalidPropertyException) {
      return oneLine(failure);
    }
    if (failure instanceof MongoSecurityException) {
      return "%s refused the credentials in %s: %s"
          .formatted(options.hosts(), BindingOptions.URL, oneLine(rootOf(failure)));
    }
    return "cannot use %s (%s): %s".formatted(options.hosts(), BindingOptions.URL, reason(failure));
  }

  /**
   * Returns the failure's message without line breaks, or its class's name if it has no message.
   */
  static String oneLine(Throwable failure) {
    if (failure instanceof MongoCommandException command) {
      // The message contains the server's whole reply.
      return "%s (%d %s, from %s)"
          .formatted(
              command.getErrorMessage(),
              command.getErrorCode(),
              command.getErrorCodeName(),
              command.getServerAddress());
    }
    if (failure instanceof MongoBulkWriteException bulk && !bulk.getWriteErrors().isEmpty()) {
      BulkWriteError first = bulk.getWriteErrors().get(0);
      return "%d writes of a bulk write failed, first with: %s (%d, from %s)"
          .formatted(
              bulk.getWriteErrors().size(),
              first.getMessage(),
              first.getCode(),
              bulk.getServerAddress());
    }
    if (failure instanceof MongoWriteException write) {
      return "%s (%d, from %s)"
          .formatted(write.getError().getMessage(), write.getCode(), write.getServerAddress());
    }
    String message = failure.getMessage();
    return message == null || message.isBlank()
        ? failure.getClass().getSimpleName()
        : message.strip().replaceAll("\\s*\\R\\s*", " ");
  }

  private static String reason(Throwable failure) {
    if (failure instanceof MongoTimeoutException) {
      Matcher cause = INNERMOST_CAUSE.matcher(oneLine(failure));
      String last = null;
      while (cause.find()) {
        last = words(cause.group(1), cause.group(2));
      }
      return last == null ? oneLine(failure) : last;
    }
    return oneLine(failure);
  }

  private static String words(String exception, @Nullable String message) {
    if (message == null || message.isBlank()) {
      return exception;
    }
    // The exception's message is only the host name, such as "example.invalid".
    return exception.equals("UnknownHostException") ? "unknown host " + message : message.strip();
  }

  private static Throwable rootOf(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    return root;
  }
}
