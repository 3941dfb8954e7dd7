package dev.onehop.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCredential;
import com.mongodb.SubjectProvider;
import dev.onehop.wire.handshake.AuthenticationFailure;
import dev.onehop.wire.handshake.Mechanism;
import dev.onehop.wire.handshake.ScriptedConnection;
import java.nio.charset.StandardCharsets;
import java.security.Provider;
import java.security.Security;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.login.LoginException;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslClientFactory;
import javax.security.sasl.SaslException;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests GSSAPI without Kerberos. A SASL client of this test replaces the SASL client of the Java
 * runtime.
 */
class GssapiTest {
  private final Provider provider = new TestClients();
  private final ScriptedConnection connection = new ScriptedConnection();

  @BeforeEach
  void register() {
    Security.insertProviderAt(provider, 1);
  }

  @AfterEach
  void unregister() {
    Security.removeProvider(provider.getName());
  }

  private static Mechanism mechanism(SubjectProvider subjects) {
    return new AuthMechanisms()
        .mechanism(
            MongoCredential.createGSSAPICredential("me@REALM")
                .withMechanismProperty(MongoCredential.SERVICE_NAME_KEY, "service")
                .withMechanismProperty(
                    MongoCredential.JAVA_SASL_CLIENT_PROPERTIES_KEY, Map.of("p", "q"))
                .withMechanismProperty(MongoCredential.JAVA_SUBJECT_PROVIDER_KEY, subjects));
  }

  @Test
  void usesSaslClientOfRuntime() {
    connection
        .then("{ok: 1}")
        .thenPayload(false, bytes("challenge"))
        .thenPayload(true, new byte[0]);

    connection.run(mechanism(Subject::new));

    assertThat(connection.seen.get(1))
        .containsEntry("mechanism", new BsonString("GSSAPI"))
        .containsEntry("$db", new BsonString("$external"));
    assertThat(text(1)).isEqualTo("me@REALM service localhost {p=q}");
    assertThat(text(2)).isEqualTo("challenge answered");
  }

  @Test
  void failsWithoutLogin() {
    connection.then("{ok: 1}");

    assertThatThrownBy(
            () ->
                connection.run(
                    mechanism(
                        () -> {
                          throw new LoginException("no ticket");
                        })))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessage("user me@REALM@$external: no ticket");
  }

  @Test
  void reportsRefusedChallenge() {
    connection.then("{ok: 1}").thenPayload(false, bytes("forged"));

    assertThatThrownBy(() -> connection.run(mechanism(Subject::new)))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("forged");
  }

  @Test
  void rejectsEarlyEndOfConversation() {
    connection.then("{ok: 1}").thenPayload(true, bytes(""));

    assertThatThrownBy(() -> connection.run(mechanism(Subject::new)))
        .isInstanceOf(AuthenticationFailure.class);
  }

  private String text(int command) {
    return new String(connection.sentPayload(command), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static final class TestClients extends Provider {
    private static final long serialVersionUID = 1L;

    TestClients() {
      super("onehop-test", "1", "SASL clients of this test");
      put("SaslClientFactory.GSSAPI", Factory.class.getName());
    }
  }

  /** The Java runtime creates this factory by the name of the class. */
  public static final class Factory implements SaslClientFactory {
    @Override
    public SaslClient createSaslClient(
        String[] mechanisms,
        String authorizationId,
        String protocol,
        String serverName,
        Map<String, ?> properties,
        CallbackHandler handler) {
      return new Client(authorizationId + " " + protocol + " " + serverName + " " + properties);
    }

    @Override
    public String[] getMechanismNames(Map<String, ?> properties) {
      return new String[] {"GSSAPI"};
    }
  }

  private static final class Client implements SaslClient {
    private final String hello;
    private boolean started;
    private boolean complete;

    Client(String hello) {
      this.hello = hello;
    }

    @Override
    public byte[] evaluateChallenge(byte[] challenge) throws SaslException {
      String text = new String(challenge, StandardCharsets.UTF_8);
      if (!started) {
        started = true;
        return bytes(hello);
      }
      if (!text.equals("challenge")) {
        throw new SaslException("not the server's: " + text);
      }
      complete = true;
      return bytes(text + " answered");
    }

    @Override
    public boolean isComplete() {
      return complete;
    }

    @Override
    public String getMechanismName() {
      return "GSSAPI";
    }

    @Override
    public boolean hasInitialResponse() {
      return true;
    }

    @Override
    public byte[] unwrap(byte[] incoming, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public byte[] wrap(byte[] outgoing, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Object getNegotiatedProperty(String name) {
      return null;
    }

    @Override
    public void dispose() {}
  }
}
