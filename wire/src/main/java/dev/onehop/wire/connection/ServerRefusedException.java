package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;

/** A server can be reached, and refuses the client: its user, as a rule. */
public final class ServerRefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ServerRefusedException(ServerAddressName server, Throwable why) {
    super(server + " refuses " + why.getMessage(), why);
  }
}
