package dev.onehop.wire.message;

import dev.onehop.wire.ServerAddressName;
import java.io.IOException;
import java.net.ProtocolException;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonSerializationException;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An error that becomes the reply to a command, in the format of a server. */
public class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final Logger log = LoggerFactory.getLogger(CommandFailure.class);

  /** The label of an error after which the driver may retry the whole transaction. */
  public static final String TRANSIENT_TRANSACTION_ERROR = "TransientTransactionError";

  /** The label of an error of an overloaded server. The driver waits before it retries. */
  public static final String SYSTEM_OVERLOADED_ERROR = "SystemOverloadedError";

  private final int code;
  private final String codeName;
  private final List<String> labels;

  /** The server's reply; null if the error does not come from a server. */
  private final transient @Nullable BsonDocument reply;

  private final transient @Nullable ServerAddressName server;

  public CommandFailure(int code, String codeName, String message) {
    this(code, codeName, message, List.of());
  }

  public CommandFailure(int code, String codeName, String message, List<String> labels) {
    this(code, codeName, message, labels, null, null);
  }

  /**
   * @param cause the cause, for logs
   */
  protected CommandFailure(int code, String codeName, String message, Throwable cause) {
    this(code, codeName, message, List.of(), null, null);
    initCause(cause);
  }

  private CommandFailure(
      int code,
      String codeName,
      String message,
      List<String> labels,
      @Nullable BsonDocument reply,
      @Nullable ServerAddressName server) {
    super(message);
    this.code = code;
    this.codeName = codeName;
    this.labels = List.copyOf(labels);
    this.reply = reply;
    this.server = server;
  }

  /**
   * The error in a server's reply. {@link #toReply} returns it with all fields of the reply, such
   * as {@code baseBackoffMS} of an overloaded server.
   *
   * @param reply a reply with {@code ok: 0}, or a write error
   */
  public static CommandFailure of(BsonDocument reply) {
    return of(reply, null);
  }

  /**
   * The error in the reply of a server.
   *
   * @param server the server; null if it is unknown
   */
  public static CommandFailure of(BsonDocument reply, @Nullable ServerAddressName server) {
    return new CommandFailure(
        ErrorCodes.of(reply),
        reply.getString("codeName", new BsonString("")).getValue(),
        reply.getString("errmsg", new BsonString("")).getValue(),
        reply.getArray("errorLabels", new BsonArray()).stream()
            .map(label -> label.asString().getValue())
            .toList(),
        reply.containsKey("ok") ? reply : null,
        server);
  }

  /** Converts any failure into the error of a statement. */
  public static CommandFailure from(Throwable failure) {
    return failure instanceof CommandFailure known ? known : of(toReply(failure, false));
  }

  public int code() {
    return code;
  }

  public String codeName() {
    return codeName;
  }

  public List<String> labels() {
    return labels;
  }

  /**
   * The server that returned the error; null if the error is not from a server or the server is
   * unknown.
   */
  public @Nullable ServerAddressName server() {
    return server;
  }

  /** The error for a missing collection. */
  public static CommandFailure notFound(String namespace) {
    return new CommandFailure(
        ErrorCodes.NAMESPACE_NOT_FOUND, "NamespaceNotFound", "ns not found " + namespace);
  }

  public static CommandFailure notSupported(String what) {
    return new CommandFailure(
        ErrorCodes.COMMAND_NOT_SUPPORTED, "CommandNotSupported", what + " is not supported here");
  }

  /**
   * The error as a server's reply.
   *
   * @param failure the failure
   * @param retryableWrite whether the command had a transaction number, so that the client may send
   *     it again
   */
  public static BsonDocument toReply(Throwable failure, boolean retryableWrite) {
    if (failure instanceof CommandFailure known && known.reply != null) {
      BsonDocument reply = new BsonDocument();
      reply.putAll(known.reply);
      return reply;
    }
    if (failure instanceof CommandFailure known) {
      BsonDocument reply = error(known.code, known.codeName, String.valueOf(known.getMessage()));
      return known.labels.isEmpty()
          ? reply
          : reply.append(
              "errorLabels", new BsonArray(known.labels.stream().map(BsonString::new).toList()));
    }
    if (failure instanceof BsonSerializationException) {
      return error(ErrorCodes.INVALID_BSON, "InvalidBSON", String.valueOf(failure.getMessage()));
    }
    if (failure instanceof WireProtocolException || failure instanceof ProtocolException) {
      return error(
          ErrorCodes.PROTOCOL_ERROR, "ProtocolError", String.valueOf(failure.getMessage()));
    }
    if (!(failure instanceof IOException)) {
      log.warn("a command failed inside the router", failure);
      return error(ErrorCodes.INTERNAL_ERROR, "InternalError", failure.toString());
    }
    if (failure instanceof PoolWaitException) {
      // A mongos returns this code if its own pool has no free connection. The driver does not
      // retry after this code.
      return error(
          ErrorCodes.NETWORK_INTERFACE_EXCEEDED_TIME_LIMIT,
          "NetworkInterfaceExceededTimeLimit",
          String.valueOf(failure.getMessage()));
    }
    List<BsonString> labels = new ArrayList<>();
    if (retryableWrite) {
      labels.add(new BsonString("RetryableWriteError"));
    }
    if (failure instanceof NotSentException unsent && !unsent.isLocal()) {
      // The labels for connections that cannot be opened, by the drivers' specification of pools
      // (CMAP).
      labels.add(new BsonString(SYSTEM_OVERLOADED_ERROR));
      labels.add(new BsonString("RetryableError"));
      // The driver's label for network errors; without it a change stream would end.
      labels.add(new BsonString("ResumableChangeStreamError"));
    }
    BsonDocument reply =
        error(ErrorCodes.HOST_UNREACHABLE, "HostUnreachable", String.valueOf(failure.getMessage()));
    return labels.isEmpty() ? reply : reply.append("errorLabels", new BsonArray(labels));
  }

  private static BsonDocument error(int code, String codeName, String message) {
    return new BsonDocument("ok", new BsonDouble(0))
        .append("errmsg", new BsonString(message))
        .append("code", new BsonInt32(code))
        .append("codeName", new BsonString(codeName));
  }
}
