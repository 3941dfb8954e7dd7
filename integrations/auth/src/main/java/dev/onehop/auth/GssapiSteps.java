package dev.onehop.auth;

import dev.onehop.wire.handshake.SaslSteps;
import java.net.InetAddress;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.HashMap;
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

/** GSSAPI by the Java runtime's SASL client, as the subject that is logged in to Kerberos. */
final class GssapiSteps implements SaslSteps {
  private static final String KERBEROS_5 = "1.2.840.113554.1.2.2";

  private final String user;
  private final String host;
  private final AuthMechanisms.GssapiSettings settings;
  private @Nullable Subject subject;
  private @Nullable SaslClient client;

  GssapiSteps(String user, String host, AuthMechanisms.GssapiSettings settings) {
    this.user = user;
    this.host = host;
    this.settings = settings;
  }

  @Override
  public byte[] next(byte[] challenge) throws Exception {
    if (client == null && settings.subject() != null) {
      subject = settings.subject().get();
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
    Map<String, Object> properties = new HashMap<>();
    if (settings.properties() == null) {
      properties.put(Sasl.MAX_BUFFER, "0");
      properties.put(Sasl.CREDENTIALS, credential());
    } else {
      properties.putAll(settings.properties());
    }
    SaslClient created =
        Sasl.createSaslClient(
            new String[] {"GSSAPI"}, user, settings.service(), serviceHost(), properties, null);
    if (created == null) {
      throw new SaslException("this Java runtime has no SASL client for GSSAPI");
    }
    return created;
  }

  private GSSCredential credential() throws GSSException {
    GSSManager manager = GSSManager.getInstance();
    return manager.createCredential(
        manager.createName(user, GSSName.NT_USER_NAME),
        GSSCredential.INDEFINITE_LIFETIME,
        new Oid(KERBEROS_5),
        GSSCredential.INITIATE_ONLY);
  }

  private String serviceHost() throws java.net.UnknownHostException {
    return settings.canonicalHost() ? InetAddress.getByName(host).getCanonicalHostName() : host;
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
        // Nothing is left to do with it.
      }
    }
  }
}
