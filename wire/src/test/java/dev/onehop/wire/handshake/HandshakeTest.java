package dev.onehop.wire.handshake;

import static dev.onehop.wire.handshake.ScriptedConnection.METADATA;
import static dev.onehop.wire.handshake.ScriptedConnection.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ongres.scram.common.ScramMechanism;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;

/** Hello, and the mechanisms that need only the connection. */
class HandshakeTest {
  private static final char[] PASSWORD = "pencil".toCharArray();
  // The MD5 of user:mongo:pencil, which SCRAM-SHA-1 uses as the password.
  private static final char[] DIGESTED = "1c33006ec1ffd90f9cadcbcc0e118200".toCharArray();

  private final ScriptedConnection connection = new ScriptedConnection();

  @Test
  void helloSendsMetadataAndCompressors() {
    connection.then("{ok: 1, compression: ['zlib']}");
    BsonDocument reply =
        new Handshake(
                new HandshakeSettings(METADATA, List.of("zstd", "zlib"), null), "h", connection)
            .run()
            .block(TIMEOUT);

    assertThat(connection.seen)
        .containsExactly(
            BsonDocument.parse(
                "{hello: 1, helloOk: true, backpressure: true, client: {driver: {name: 'it'}},"
                    + " compression: ['zstd', 'zlib'], $db: 'admin'}"));
    assertThat(reply)
        .containsEntry("compression", BsonDocument.parse("{c: ['zlib']}").getArray("c"));
  }

  @Test
  void reportsFailedHello() {
    connection.then("{ok: 0, errmsg: 'go away'}");
    Handshake handshake =
        new Handshake(new HandshakeSettings(METADATA, List.of(), null), "h", connection);

    assertThatThrownBy(() -> handshake.run().block(TIMEOUT)).hasMessage("hello: go away");
  }

  private static Mechanism scram(String name) {
    return Mechanism.scram(name, "user", "db", PASSWORD);
  }

  private ScriptedConnection speculating(ScramServer server) {
    return connection.then(
        hello ->
            BsonDocument.parse("{ok: 1, saslSupportedMechs: ['SCRAM-SHA-256']}")
                .append(
                    "speculativeAuthenticate",
                    server.begin(hello.getDocument("speculativeAuthenticate"))));
  }

  @Test
  void scramStartsInHello() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_256, PASSWORD);
    speculating(server).then(server::end);

    connection.run(scram(null));

    assertThat(connection.commands()).containsExactly("hello", "saslContinue");
    BsonDocument hello = connection.seen.get(0);
    assertThat(hello.getString("saslSupportedMechs").getValue()).isEqualTo("db.user");
    assertThat(hello.getDocument("speculativeAuthenticate"))
        .containsEntry("mechanism", new BsonString("SCRAM-SHA-256"))
        .containsEntry("db", new BsonString("db"));
    assertThat(connection.seen.get(1)).containsEntry("$db", new BsonString("db"));
  }

  @Test
  void scramUsesMechanismOfUser() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_1, DIGESTED);
    connection
        .then("{ok: 1, saslSupportedMechs: ['SCRAM-SHA-1']}")
        .then(server::begin)
        .then(server::end);

    connection.run(scram(null));

    assertThat(connection.seen.get(1))
        .containsEntry("mechanism", new BsonString("SCRAM-SHA-1"))
        .containsEntry("options", BsonDocument.parse("{skipEmptyExchange: true}"));
  }

  @Test
  void explicitScramMechanismIsNotNegotiated() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_1, DIGESTED);
    speculating(server).then(server::end);

    connection.run(scram("SCRAM-SHA-1"));

    assertThat(connection.seen.get(0)).doesNotContainKey("saslSupportedMechs");
  }

  @Test
  void sendsEmptyExchangeIfServerRequiresIt() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_256, PASSWORD);
    speculating(server)
        .then(step -> server.end(step).append("done", BsonBoolean.FALSE))
        .thenPayload(true, new byte[0]);

    connection.run(scram(null));

    assertThat(connection.sentPayload(2)).isEmpty();
  }

  @Test
  void reportsWrongPassword() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_256, "other".toCharArray());
    speculating(server).then(server::end);

    assertThatThrownBy(() -> connection.run(scram(null)))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessage("user user@db: Authentication failed.");
  }

  @Test
  void rejectsInvalidServerSignature() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_256, PASSWORD);
    speculating(server)
        .thenPayload(
            true,
            "v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".getBytes(StandardCharsets.UTF_8));

    assertThatThrownBy(() -> connection.run(scram(null))).isInstanceOf(AuthenticationFailure.class);
  }

  /** A server that ends the conversation early has not proved that it has the password. */
  @Test
  void rejectsEarlyEndOfConversation() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_256, PASSWORD);
    connection.then(
        hello ->
            BsonDocument.parse("{ok: 1}")
                .append(
                    "speculativeAuthenticate",
                    server
                        .begin(hello.getDocument("speculativeAuthenticate"))
                        .append("done", BsonBoolean.TRUE)));

    assertThatThrownBy(() -> connection.run(scram(null)))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("before it proved that it has the user's credentials");
  }

  @Test
  void reauthenticatesWithSameScramMechanism() {
    ScramServer server = new ScramServer(ScramMechanism.SCRAM_SHA_1, DIGESTED);
    connection
        .then("{ok: 1, saslSupportedMechs: ['SCRAM-SHA-1']}")
        .then(server::begin)
        .then(server::end)
        .then(server::begin)
        .then(server::end);

    connection.run(scram(null)).again().block(TIMEOUT);

    assertThat(connection.seen.get(3)).containsEntry("mechanism", new BsonString("SCRAM-SHA-1"));
  }

  @Test
  void x509AuthenticatesInHello() {
    connection.then("{ok: 1, speculativeAuthenticate: {dbname: '$external'}}");

    connection.run(Mechanism.x509("CN=it"));

    assertThat(connection.seen.get(0).getDocument("speculativeAuthenticate"))
        .isEqualTo(
            BsonDocument.parse(
                "{authenticate: 1, mechanism: 'MONGODB-X509', user: 'CN=it', db: '$external'}"));
    assertThat(connection.seen).hasSize(1);
  }

  @Test
  void x509UsesSeparateCommandWithoutSpeculation() {
    connection.then("{ok: 1}").then("{ok: 1}").then("{ok: 1}");

    connection.run(Mechanism.x509(null)).again().block(TIMEOUT);

    BsonDocument authenticate =
        BsonDocument.parse("{authenticate: 1, mechanism: 'MONGODB-X509', $db: '$external'}");
    assertThat(connection.seen.subList(1, 3)).containsExactly(authenticate, authenticate);
  }

  @Test
  void plainSendsThePassword() {
    connection.then("{ok: 1}").thenPayload(true, new byte[0]);

    connection.run(Mechanism.plain("user", "$external", PASSWORD));

    assertThat(connection.sentPayload(1))
        .isEqualTo("\0user\0pencil".getBytes(StandardCharsets.UTF_8));
    assertThat(connection.seen.get(1))
        .containsEntry("mechanism", new BsonString("PLAIN"))
        .containsEntry("$db", new BsonString("$external"));
  }

  @Test
  void plainRejectsUnexpectedChallenge() {
    connection.then("{ok: 1}").thenPayload(false, new byte[0]);

    assertThatThrownBy(() -> connection.run(Mechanism.plain("user", "$external", PASSWORD)))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("unexpected challenge");
  }
}
