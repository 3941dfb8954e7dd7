package dev.onehop.auth;

import static dev.onehop.wire.handshake.ScriptedConnection.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCredential.OidcCallbackResult;
import dev.onehop.auth.OidcMechanism.IdentityProvider;
import dev.onehop.auth.OidcMechanism.Request;
import dev.onehop.wire.handshake.AuthenticationFailure;
import dev.onehop.wire.handshake.Handshake;
import dev.onehop.wire.handshake.ScriptedConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests MONGODB-OIDC with the cases of the specification's prose tests. */
class OidcTest {
  private static final String REFUSED = "{ok: 0, code: 18, errmsg: 'Authentication failed.'}";
  private static final byte[] PROVIDER =
      Payloads.bytes(
          BsonDocument.parse(
              "{issuer: 'https://id', clientId: 'c', requestScopes: ['one', 'two']}"));

  private final List<Request> requests = new ArrayList<>();
  private final ScriptedConnection connection = new ScriptedConnection();

  private OidcMechanism machine() {
    return new OidcMechanism(
        null,
        request -> {
          requests.add((Request) request);
          return new OidcCallbackResult("token " + requests.size());
        },
        null);
  }

  private OidcMechanism human(String user, String refreshToken) {
    return new OidcMechanism(
        user,
        request -> {
          requests.add((Request) request);
          return new OidcCallbackResult("token " + requests.size(), Duration.ZERO, refreshToken);
        },
        List.of("localhost", "*.example.org"));
  }

  private static ScriptedConnection accepting() {
    return new ScriptedConnection().then("{ok: 1}").thenPayload(true, new byte[0]);
  }

  private static String jwt(ScriptedConnection connection, int command) {
    return Payloads.document(connection.sentPayload(command)).getString("jwt").getValue();
  }

  @Test
  void machineConnectionsShareToken() {
    OidcMechanism mechanism = machine();
    ScriptedConnection first = accepting();
    first.run(mechanism);
    connection.then(
        hello -> {
          BsonDocument speculative = hello.getDocument("speculativeAuthenticate");
          assertThat(
                  Payloads.document(speculative.getBinary("payload").getData())
                      .getString("jwt")
                      .getValue())
              .isEqualTo("token 1");
          return BsonDocument.parse("{ok: 1}")
              .append("speculativeAuthenticate", ScriptedConnection.payload(true, new byte[0]));
        });
    connection.run(mechanism);

    assertThat(first.seen.get(0)).doesNotContainKey("speculativeAuthenticate");
    assertThat(jwt(first, 1)).isEqualTo("token 1");
    assertThat(connection.commands()).containsExactly("hello");
    assertThat(requests).containsExactly(new Request(Duration.ofMinutes(1), null, null, null));
  }

  @Test
  void replacesRefusedToken() {
    OidcMechanism mechanism = machine();
    accepting().run(mechanism);
    connection.then("{ok: 1}").then(REFUSED).thenPayload(true, new byte[0]);

    connection.run(mechanism);

    assertThat(jwt(connection, 1)).isEqualTo("token 1");
    assertThat(jwt(connection, 2)).isEqualTo("token 2");
  }

  @Test
  void refusedNewTokenIsError() {
    OidcMechanism mechanism = machine();
    connection.then("{ok: 1}").then(REFUSED);

    assertThatThrownBy(() -> connection.run(mechanism))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessage("the token's user: Authentication failed.");
    accepting().run(mechanism);
    assertThat(requests).hasSize(2);
  }

  @Test
  void reauthenticationUsesNewToken() {
    connection.then("{ok: 1}").thenPayload(true, new byte[0]).thenPayload(true, new byte[0]);

    connection.run(machine()).again().block(TIMEOUT);

    assertThat(jwt(connection, 1)).isEqualTo("token 1");
    assertThat(jwt(connection, 2)).isEqualTo("token 2");
  }

  /**
   * When many connections must authenticate again, only one of them calls the application for a
   * token.
   */
  @Test
  void reauthenticationReusesTokenOfOtherConnection() {
    OidcMechanism mechanism = machine();
    ScriptedConnection other = accepting().thenPayload(true, new byte[0]);
    Handshake otherHandshake = other.run(mechanism);
    connection.then("{ok: 1}").thenPayload(true, new byte[0]).thenPayload(true, new byte[0]);
    Handshake handshake = connection.run(mechanism);

    otherHandshake.again().block(TIMEOUT);
    handshake.again().block(TIMEOUT);

    assertThat(jwt(connection, 2)).isEqualTo("token 2");
    assertThat(requests).hasSize(2);
  }

  @Test
  void rejectsRefreshTokenOfMachine() {
    OidcMechanism mechanism =
        new OidcMechanism(null, request -> new OidcCallbackResult("t", Duration.ZERO, "r"), null);
    connection.then("{ok: 1}");

    assertThatThrownBy(() -> connection.run(mechanism))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("of a machine login returned a refresh token");
  }

  @Test
  void failedCallbackFailsConnection() {
    OidcMechanism mechanism =
        new OidcMechanism(
            null,
            request -> {
              throw new UncheckedIOException("no provider", new IOException());
            },
            null);
    connection.then("{ok: 1}");

    assertThatThrownBy(() -> connection.run(mechanism))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessage("the token's user: no provider");
  }

  @Test
  void humanCallbackGetsProviderOfServer() {
    connection.then("{ok: 1}").thenPayload(false, PROVIDER).thenPayload(true, new byte[0]);

    connection.run(human("me", "refresh"));

    assertThat(connection.commands()).containsExactly("hello", "saslStart", "saslContinue");
    assertThat(Payloads.document(connection.sentPayload(1)).getString("n").getValue())
        .isEqualTo("me");
    assertThat(jwt(connection, 2)).isEqualTo("token 1");
    assertThat(requests)
        .containsExactly(
            new Request(
                Duration.ofMinutes(5),
                new IdentityProvider("https://id", "c", List.of("one", "two")),
                null,
                "me"));
  }

  @Test
  void refreshesHumanTokenThenRequestsNewOne() {
    OidcMechanism mechanism = human(null, "refresh");
    new ScriptedConnection()
        .then("{ok: 1}")
        .thenPayload(false, PROVIDER)
        .thenPayload(true, new byte[0])
        .run(mechanism);
    connection
        .then("{ok: 1}")
        .then(REFUSED) // the cached token
        .then(REFUSED) // the refreshed token
        .thenPayload(false, PROVIDER)
        .thenPayload(true, new byte[0]);

    connection.run(mechanism);

    assertThat(jwt(connection, 1)).isEqualTo("token 1");
    assertThat(jwt(connection, 2)).isEqualTo("token 2");
    assertThat(jwt(connection, 4)).isEqualTo("token 3");
    assertThat(requests)
        .extracting(Request::getRefreshToken)
        .containsExactly(null, "refresh", null);
  }

  @Test
  void sendsHumanTokenOnlyToAllowedHosts() {
    connection.then("{ok: 1}").thenPayload(false, PROVIDER);

    assertThatThrownBy(
            () ->
                connection
                    .handshake(human(null, null), "example.org.evil.com")
                    .run()
                    .block(TIMEOUT))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("not permitted by ALLOWED_HOSTS");
    assertThat(requests).isEmpty();

    ScriptedConnection allowed =
        new ScriptedConnection()
            .then("{ok: 1}")
            .thenPayload(false, PROVIDER)
            .thenPayload(true, new byte[0]);
    allowed.handshake(human(null, null), "db.example.org").run().block(TIMEOUT);
    assertThat(requests).hasSize(1);
  }

  @Test
  void rejectsWildcardInMiddleOfHost() {
    assertThatThrownBy(() -> new OidcMechanism(null, request -> null, List.of("db.*.org")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void testEnvironmentReadsFile(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("token"), "from a file");

    assertThat(token("test", null, Map.of("OIDC_TOKEN_FILE", file.toString())))
        .isEqualTo("from a file");
    assertThatThrownBy(() -> token("test", null, Map.of())).hasMessageContaining("OIDC_TOKEN_FILE");
  }

  @Test
  void kubernetesReadsFile(@TempDir Path folder) throws IOException {
    Path azure = Files.writeString(folder.resolve("azure"), "azure's");
    Path aws = Files.writeString(folder.resolve("aws"), "aws's");
    Map<String, String> both =
        Map.of(
            "AZURE_FEDERATED_TOKEN_FILE", azure.toString(),
            "AWS_WEB_IDENTITY_TOKEN_FILE", aws.toString());

    assertThat(token("k8s", null, both)).isEqualTo("azure's");
    assertThat(token("k8s", null, Map.of("AWS_WEB_IDENTITY_TOKEN_FILE", aws.toString())))
        .isEqualTo("aws's");
  }

  @Test
  void requestsResourceFromClouds() {
    List<String> asked = new ArrayList<>();
    MetadataService service =
        (method, url, headers) -> {
          asked.add(method + " " + url);
          return url.contains("azure") || url.contains("oauth2")
              ? "{\"access_token\": \"azure's\", \"expires_in\": \"3599\"}"
              : "gcp's";
        };
    Request request = new Request(Duration.ofMinutes(1), null, null, "client");

    assertThat(
            new OidcEnvironment("azure", "api://x", name -> null, service)
                .onRequest(request)
                .getAccessToken())
        .isEqualTo("azure's");
    assertThat(
            new OidcEnvironment("gcp", "api://x", name -> null, service)
                .onRequest(request)
                .getAccessToken())
        .isEqualTo("gcp's");
    assertThat(asked)
        .containsExactly(
            "GET http://169.254.169.254/metadata/identity/oauth2/token"
                + "?api-version=2018-02-01&resource=api%3A%2F%2Fx&client_id=client",
            "GET http://metadata/computeMetadata/v1/instance/service-accounts/default/identity"
                + "?audience=api%3A%2F%2Fx");
  }

  @Test
  void resourceIsOnlyForClouds() {
    assertThatThrownBy(() -> new OidcEnvironment("azure", null))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new OidcEnvironment("test", "x"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new OidcEnvironment("moon", null)).hasMessageContaining("not moon");
  }

  private static String token(String environment, String resource, Map<String, String> variables) {
    return new OidcEnvironment(
            environment,
            resource,
            variables::get,
            (method, url, headers) -> {
              throw new IOException("not asked");
            })
        .onRequest(new Request(Duration.ofMinutes(1), null, null, null))
        .getAccessToken();
  }
}
