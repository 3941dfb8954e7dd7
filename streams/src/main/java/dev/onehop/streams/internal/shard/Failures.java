package dev.onehop.streams.internal.shard;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.ServerAddress;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.merge.ReadFailure.Kind;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.watch.SingleServer;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.TimeoutException;

/** Classifies the failures of a stream as the drivers' specification "Change Streams" does. */
final class Failures {
  static final int BSON_OBJECT_TOO_LARGE = 10334;
  private static final String RESUMABLE = "ResumableChangeStreamError";
  private static final ServerAddress STREAM = new ServerAddress("onehop-streams");
  static final String NOT_RESUMABLE = "NonResumableChangeStreamError";

  // The codes of the specification and further codes of a server that is down or not ready. Code
  // 175 is QueryPlanKilled: a member that rolls back closes its catalog and kills the cursors.
  private static final Set<Integer> PASSING =
      Set.of(
          6, 7, 43, 63, 64, 89, 91, 133, 134, 136, 150, 175, 189, 202, 234, 237, 262, 317, 343, 358,
          9001, 10107, 11600, 11602, 13388, 13435, 13436);

  private Failures() {}

  static ReadFailure of(Throwable failure) {
    if (failure instanceof ReadFailure known) {
      return known;
    }
    if (failure instanceof CommandFailure refused) {
      return new ReadFailure(kind(refused), exception(refused));
    }
    boolean passing = failure instanceof IOException || failure instanceof TimeoutException;
    return new ReadFailure(passing ? Kind.PASSING : Kind.FINAL, failure);
  }

  /** An error after which the stream is opened again. */
  static CommandFailure cursorNotFound(String why) {
    return new CommandFailure(ErrorCodes.CURSOR_NOT_FOUND, "CursorNotFound", why);
  }

  /**
   * The exception that the driver would throw. It names the server that returned the error. If no
   * server returned the error, the exception names the stream.
   */
  private static MongoException exception(CommandFailure refused) {
    ServerAddressName server = refused.server();
    return new MongoCommandException(
        CommandFailure.toReply(refused, false),
        server == null ? STREAM : SingleServer.address(server));
  }

  private static Kind kind(CommandFailure refused) {
    if (refused.code() == BSON_OBJECT_TOO_LARGE) {
      return Kind.TOO_LARGE;
    }
    if (refused.code() == ErrorCodes.CHANGE_STREAM_HISTORY_LOST) {
      return Kind.HISTORY_LOST;
    }
    boolean passing =
        refused.labels().contains(RESUMABLE)
            || refused.labels().contains(CommandFailure.SYSTEM_OVERLOADED_ERROR)
            || (PASSING.contains(refused.code()) && !refused.labels().contains(NOT_RESUMABLE));
    return passing ? Kind.PASSING : Kind.FINAL;
  }
}
