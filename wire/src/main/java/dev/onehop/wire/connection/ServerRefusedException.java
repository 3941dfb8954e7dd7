package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;

/** A server can be reached but refuses the client, usually its user. */
public final class ServerRefusedException extends CommandFailure {
  private static final long serialVersionUID = 1L;

  ServerRefusedException(ServerAddressName server, Throwable why) {
    super(
        ErrorCodes.AUTHENTICATION_FAILED,
        "AuthenticationFailed",
        server + " refuses " + why.getMessage(),
        why);
  }
}
