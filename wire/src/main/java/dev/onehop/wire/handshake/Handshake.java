package dev.onehop.wire.handshake;

import dev.onehop.wire.handshake.Mechanism.Login;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The first commands on a connection: hello with the client's metadata, and the authentication.
 * Source: the drivers' specifications "MongoDB Handshake", "Authentication" and "Wire Compression".
 *
 * <p>Sends one command at a time. Not thread-safe.
 */
public final class Handshake {
  private final HandshakeSettings settings;
  private final @Nullable Login login;
  private final Commands commands;

  /**
   * @param host the server's host in the client's settings
   * @param commands sends commands on the connection
   */
  public Handshake(HandshakeSettings settings, String host, Commands commands) {
    this.settings = settings;
    this.login = settings.mechanism() == null ? null : settings.mechanism().login(host);
    this.commands = commands;
  }

  /**
   * Runs the handshake.
   *
   * @return the reply to hello, once the connection is ready; an {@link AuthenticationFailure} if
   *     the server refuses the user
   */
  public Mono<BsonDocument> run() {
    BsonDocument hello =
        new BsonDocument("hello", new BsonInt32(1))
            .append("helloOk", BsonBoolean.TRUE)
            // With this field, an overloaded server returns special errors.
            .append("backpressure", BsonBoolean.TRUE)
            .append("client", settings.client());
    if (!settings.compressors().isEmpty()) {
      hello.append("compression", names(settings.compressors()));
    }
    if (login == null) {
      return commands.require("hello", "admin", hello);
    }
    login.addTo(hello);
    return commands
        .require(login.who(), "admin", hello)
        .flatMap(reply -> login.run(reply, commands).thenReturn(reply));
  }

  private static BsonArray names(List<String> names) {
    return new BsonArray(names.stream().<BsonValue>map(BsonString::new).toList());
  }

  /** Whether there is a user to authenticate. */
  public boolean authenticates() {
    return login != null;
  }

  /** Authenticates the connection again, after the server has required it by error 391. */
  public Mono<Void> again() {
    return login == null ? Mono.empty() : login.again(commands);
  }
}
