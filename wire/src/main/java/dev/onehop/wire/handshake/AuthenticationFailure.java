package dev.onehop.wire.handshake;

import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** A server rejects the user, or the client rejects the server. */
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

  /** The failure for a server's refusal. */
  static AuthenticationFailure of(String who, BsonDocument reply) {
    return new AuthenticationFailure(
        who + ": " + reply.getString("errmsg", new BsonString(reply.toJson())).getValue(),
        reply.getNumber("code", new BsonInt32(0)).intValue());
  }

  /** The failure for an exception in the client's part of the authentication. */
  static AuthenticationFailure of(String who, Exception failure) {
    return failure instanceof AuthenticationFailure already
        ? already
        : new AuthenticationFailure(who, String.valueOf(failure.getMessage()), failure);
  }

  /** The server's error code, 0 if the server did not refuse. */
  public int code() {
    return code;
  }
}
