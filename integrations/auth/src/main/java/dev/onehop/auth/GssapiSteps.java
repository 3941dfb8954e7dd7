package dev.onehop.auth;

import static com.mongodb.MongoCredential.CANONICALIZE_HOST_NAME_KEY;
import static com.mongodb.MongoCredential.JAVA_SASL_CLIENT_PROPERTIES_KEY;
import static com.mongodb.MongoCredential.SERVICE_NAME_KEY;

import com.mongodb.MongoCredential;
import com.mongodb.SubjectProvider;
import dev.onehop.wire.handshake.SaslSteps;
import java.net.InetAddress;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslException;
import org.ietf.jgss.GSSCredential;
import org.ietf.jgss.GSSException;
import org.ietf.jgss.GSSManager;
import org.ietf.jgss.GSSName;
import org.ietf.jgss.Oid;
import org.jspecify.annotations.Nullable;

/**
 * The steps of GSSAPI. The Java runtime's SASL client runs them for a subject that is logged in to
 * Kerberos.
 */
final class GssapiSteps implements SaslSteps {
  private static final String KERBEROS_5 = "1.2.840.113554.1.2.2";

  private final String host;
  private final MongoCredential credential;
  private final SubjectProvider subjects;
  private @Nullable Subject subject;
  private @Nullable SaslClient client;

  /**
   * Creates the steps of one connection.
   *
   * @param subjects returns the logged-in subject, or null for the runtime's default subject; may
   *     block
   */
  GssapiSteps(String host, MongoCredential credential, SubjectProvider subjects) {
    this.host = host;
    this.credential = credential;
    this.subjects = subjects;
  }

  @Override
  public byte[] next(byte[] challenge) throws Exception {
    if (client == null) {
      subject = subjects.getSubject();
    }
    return subject == null ? answer(challenge) : asSubject(subject, () -> answer(challenge));
  }

  private static byte[] asSubject(Subject subject, PrivilegedExceptionAction<byte[]> action)
      throws Exception {
    try {
      return Subject.doAs(subject, action);
    } catch (PrivilegedActionException e) {
      throw e.getException();
    }
  }

  private byte[] answer(byte[] challenge) throws Exception {
    if (client == null) {
      client = newClient();
      if (!client.hasInitialResponse()) {
        return new byte[0];
      }
    }
    byte[] answer = client.evaluateChallenge(challenge);
    return answer == null ? new byte[0] : answer;
  }

  private SaslClient newClient() throws Exception {
    Map<String, ?> properties =
        credential.getMechanismProperty(JAVA_SASL_CLIENT_PROPERTIES_KEY, null);
    if (properties == null) {
      properties = Map.of(Sasl.MAX_BUFFER, "0", Sasl.CREDENTIALS, ticket());
    }
    SaslClient created =
        Sasl.createSaslClient(
            new String[] {"GSSAPI"},
            credential.getUserName(),
            credential.<String>getMechanismProperty(SERVICE_NAME_KEY, "mongodb"),
            serviceHost(),
            properties,
            null);
    if (created == null) {
      throw new SaslException("this Java runtime has no SASL client for GSSAPI");
    }
    return created;
  }

  private GSSCredential ticket() throws GSSException {
    GSSManager manager = GSSManager.getInstance();
    return manager.createCredential(
        manager.createName(credential.getUserName(), GSSName.NT_USER_NAME),
        GSSCredential.INDEFINITE_LIFETIME,
        new Oid(KERBEROS_5),
        GSSCredential.INITIATE_ONLY);
  }

  private String serviceHost() throws java.net.UnknownHostException {
    // The value is a string if the credential comes from a connection string.
    Object canonical = credential.<Object>getMechanismProperty(CANONICALIZE_HOST_NAME_KEY, false);
    return Boolean.parseBoolean(String.valueOf(canonical))
        ? InetAddress.getByName(host).getCanonicalHostName()
        : host;
  }

  @Override
  public boolean isComplete() {
    return client != null && client.isComplete();
  }

  @Override
  public void close() {
    if (client != null) {
      try {
        client.dispose();
      } catch (SaslException e) {
        // Nothing to do: the client is not used any more.
      }
    }
  }
}
