package dev.onehop.wire.handshake;

import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** A server does not take the user, or the client does not take the server. */
public final class AuthenticationFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int code;

  AuthenticationFailure(String who, String why, @Nullable Throwable cause) {
    super(who + ": " + why, cause);
    this.code = 0;
  }

  private AuthenticationFailure(String message, int code) {
    super(message);
    this.code = code;
  }

  /** What a server's refusal says. */
  static AuthenticationFailure of(String who, BsonDocument reply) {
    return new AuthenticationFailure(
        who + ": " + reply.getString("errmsg", new BsonString(reply.toJson())).getValue(),
        reply.getNumber("code", new BsonInt32(0)).intValue());
  }

  /** Any failure of a client's step, which is not the connection's. */
  static AuthenticationFailure of(String who, Exception failure) {
    return failure instanceof AuthenticationFailure already
        ? already
        : new AuthenticationFailure(who, String.valueOf(failure.getMessage()), failure);
  }

  /** The server's error code, 0 if it was not the server that refused. */
  public int code() {
    return code;
  }
}
