package dev.onehop.auth;

import com.mongodb.MongoCredential.IdpInfo;
import com.mongodb.MongoCredential.OidcCallback;
import com.mongodb.MongoCredential.OidcCallbackContext;
import com.mongodb.MongoCredential.OidcCallbackResult;
import dev.onehop.wire.handshake.AuthenticationFailure;
import dev.onehop.wire.handshake.Commands;
import dev.onehop.wire.handshake.Mechanism;
import dev.onehop.wire.handshake.SaslDialogue;
import dev.onehop.wire.handshake.SaslSteps;
import dev.onehop.wire.message.ErrorCodes;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * MONGODB-OIDC: authentication by a token of an identity provider. All connections share the token
 * until the server refuses it. Source: the drivers' specification "Authentication".
 */
final class OidcMechanism implements Mechanism {
  private static final String NAME = "MONGODB-OIDC";
  private static final Duration MACHINES_TIME = Duration.ofMinutes(1);
  private static final Duration PERSONS_TIME = Duration.ofMinutes(5);

  /** The specification's shortest pause between two calls of a machine callback. */
  private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();

  private final @Nullable String user;
  private final OidcCallback tokens;
  private final @Nullable List<String> allowedHosts;
  private final Object calls = new Object();
  // A thread that writes this field must hold the lock "calls".
  private volatile Known known = new Known(null, null, null);
  private long calledAt = System.nanoTime() - PAUSE_NANOS;

  private record Known(
      @Nullable String accessToken, @Nullable String refreshToken, @Nullable IdpInfo provider) {}

  /**
   * A request for a token. The components have the names of the methods of the driver's interface.
   */
  record Request(
      Duration getTimeout,
      @Nullable IdpInfo getIdpInfo,
      @Nullable String getRefreshToken,
      @Nullable String getUserName)
      implements OidcCallbackContext {
    @Override
    public int getVersion() {
      return 1;
    }
  }

  /**
   * An identity provider. The components have the names of the methods of the driver's interface.
   */
  record IdentityProvider(
      String getIssuer, @Nullable String getClientId, List<String> getRequestScopes)
      implements IdpInfo {}

  /** The last message that a connection has sent for its login. */
  private enum Phase {
    NOTHING,
    KNOWN_TOKEN,
    REFRESHED_TOKEN,
    NAME_OF_THE_USER,
    NEW_TOKEN
  }

  /**
   * @param user the user name; null if the credential has none
   * @param tokens gets tokens; may block; calls are sequential
   * @param allowedHosts the hosts to which a human login may send tokens: each a name, or {@code
   *     *.} and the end of a name; null for a machine login
   */
  OidcMechanism(@Nullable String user, OidcCallback tokens, @Nullable List<String> allowedHosts) {
    this.user = user;
    this.tokens = tokens;
    this.allowedHosts = allowedHosts == null ? null : List.copyOf(allowedHosts);
    if (allowedHosts != null) {
      for (String each : allowedHosts) {
        if (each.lastIndexOf('*') > 0 || (each.startsWith("*") && !each.startsWith("*."))) {
          throw new IllegalArgumentException(
              "the allowed host " + each + " may have a wildcard only at the beginning");
        }
      }
    }
  }

  @Override
  public Login login(String host) {
    return new OidcLogin(host);
  }

  @Override
  public Duration patience() {
    return allowedHosts == null ? MACHINES_TIME : PERSONS_TIME;
  }

  private boolean isPersons() {
    return allowedHosts != null;
  }

  private final class OidcLogin implements Login, SaslSteps {
    private final String host;
    // A connection authenticates one step at a time, but on several threads.
    private volatile Phase phase = Phase.NOTHING;
    private volatile @Nullable String sent;

    OidcLogin(String host) {
      this.host = host;
    }

    @Override
    public String who() {
      return user == null ? "the token's user" : "user " + user + "@" + EXTERNAL;
    }

    @Override
    public void addTo(BsonDocument hello) {
      String token = known.accessToken();
      sent = token;
      if (token != null) {
        hello.append(
            "speculativeAuthenticate",
            SaslDialogue.start(NAME, jwt(token)).append("db", new BsonString(EXTERNAL)));
      }
    }

    @Override
    public Mono<Void> run(BsonDocument helloReply, Commands commands) {
      if (helloReply.isDocument("speculativeAuthenticate")) {
        phase = Phase.KNOWN_TOKEN;
        return dialogue(commands).after(helloReply.getDocument("speculativeAuthenticate"));
      }
      // The server has not accepted a token in hello. The cached token may be newer, so this method
      // tries the cached token.
      sent = null;
      return again(commands);
    }

    @Override
    public Mono<Void> again(Commands commands) {
      phase = Phase.NOTHING;
      return attempt(commands);
    }

    private Mono<Void> attempt(Commands commands) {
      return Mono.defer(() -> dialogue(commands).run())
          .onErrorResume(
              AuthenticationFailure.class,
              e ->
                  e.code() == ErrorCodes.AUTHENTICATION_FAILED && mayTryAgain()
                      ? attempt(commands)
                      : Mono.error(e));
    }

    private SaslDialogue dialogue(Commands commands) {
      return new SaslDialogue(who(), NAME, EXTERNAL, this, commands);
    }

    /** Drops the refused token if it is still the cached one. Returns whether to try again. */
    private boolean mayTryAgain() {
      synchronized (calls) {
        Known now = known;
        if (now.accessToken() != null && now.accessToken().equals(sent)) {
          known =
              phase == Phase.KNOWN_TOKEN
                  ? new Known(null, now.refreshToken(), now.provider())
                  : new Known(null, null, null);
        }
        return phase == Phase.KNOWN_TOKEN || phase == Phase.REFRESHED_TOKEN;
      }
    }

    @Override
    public byte[] next(byte[] challenge) throws Exception {
      synchronized (calls) {
        Known now = known;
        if (now.accessToken() != null && now.accessToken().equals(sent)) {
          // This connection has sent the cached token, and the server requests another one. So the
          // cached token is dropped.
          now = new Known(null, now.refreshToken(), now.provider());
          known = now;
        }
        if (now.accessToken() != null) {
          phase = Phase.KNOWN_TOKEN;
          return send(now.accessToken());
        }
        if (!isPersons()) {
          phase = Phase.NEW_TOKEN;
          return send(call(null, null));
        }
        if (now.refreshToken() != null) {
          phase = Phase.REFRESHED_TOKEN;
          return send(call(now.provider(), now.refreshToken()));
        }
        if (challenge.length == 0 && phase != Phase.NAME_OF_THE_USER) {
          phase = Phase.NAME_OF_THE_USER;
          return Payloads.bytes(
              user == null ? new BsonDocument() : new BsonDocument("n", new BsonString(user)));
        }
        IdpInfo provider = provider(Payloads.document(challenge));
        phase = Phase.NEW_TOKEN;
        return send(call(provider, null));
      }
    }

    private String call(@Nullable IdpInfo provider, @Nullable String refreshToken)
        throws Exception {
      long pause = calledAt + PAUSE_NANOS - System.nanoTime();
      if (!isPersons() && pause > 0) {
        Thread.sleep(Duration.ofNanos(pause).toMillis() + 1);
      }
      OidcCallbackResult token;
      try {
        token = tokens.onRequest(new Request(patience(), provider, refreshToken, user));
      } finally {
        calledAt = System.nanoTime();
      }
      if (token == null) {
        throw new IllegalStateException("the OIDC callback returned no result");
      }
      if (!isPersons() && token.getRefreshToken() != null) {
        throw new IllegalStateException(
            "the OIDC callback of a machine login returned a refresh token");
      }
      known = new Known(token.getAccessToken(), token.getRefreshToken(), provider);
      return token.getAccessToken();
    }

    private byte[] send(String token) {
      sent = token;
      return jwt(token);
    }

    // A false server could collect tokens, so the host must be one of the allowed hosts.
    private IdpInfo provider(BsonDocument named) {
      List<String> allowed = allowedHosts;
      if (allowed == null
          || allowed.stream()
              .noneMatch(
                  each ->
                      each.startsWith("*.")
                          ? host.endsWith(each.substring(1))
                          : host.equals(each))) {
        throw new IllegalStateException(
            "host " + host + " is not permitted by ALLOWED_HOSTS: " + allowed);
      }
      return new IdentityProvider(
          named.getString("issuer").getValue(),
          named.isString("clientId") ? named.getString("clientId").getValue() : null,
          named.isArray("requestScopes")
              ? named.getArray("requestScopes").stream()
                  .filter(BsonValue::isString)
                  .map(each -> each.asString().getValue())
                  .toList()
              : List.of());
    }

    @Override
    public boolean isComplete() {
      return phase != Phase.NAME_OF_THE_USER && phase != Phase.NOTHING;
    }
  }

  private static byte[] jwt(String token) {
    return Payloads.bytes(new BsonDocument("jwt", new BsonString(token)));
  }
}
