package dev.onehop.auth;

import static com.mongodb.MongoCredential.ALLOWED_HOSTS_KEY;
import static com.mongodb.MongoCredential.AWS_CREDENTIAL_PROVIDER_KEY;
import static com.mongodb.MongoCredential.AWS_SESSION_TOKEN_KEY;
import static com.mongodb.MongoCredential.DEFAULT_ALLOWED_HOSTS;
import static com.mongodb.MongoCredential.ENVIRONMENT_KEY;
import static com.mongodb.MongoCredential.JAVA_SUBJECT_KEY;
import static com.mongodb.MongoCredential.JAVA_SUBJECT_PROVIDER_KEY;
import static com.mongodb.MongoCredential.OIDC_CALLBACK_KEY;
import static com.mongodb.MongoCredential.OIDC_HUMAN_CALLBACK_KEY;
import static com.mongodb.MongoCredential.TOKEN_RESOURCE_KEY;
import static dev.onehop.wire.handshake.Mechanism.EXTERNAL;

import com.mongodb.AuthenticationMechanism;
import com.mongodb.AwsCredential;
import com.mongodb.KerberosSubjectProvider;
import com.mongodb.MongoCredential;
import com.mongodb.MongoCredential.OidcCallback;
import com.mongodb.SubjectProvider;
import dev.onehop.wire.driver.MechanismProvider;
import dev.onehop.wire.handshake.Mechanism;
import dev.onehop.wire.handshake.SaslMechanism;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.security.auth.Subject;

/** Creates the mechanisms GSSAPI, MONGODB-AWS and MONGODB-OIDC for a credential. */
public final class AuthMechanisms implements MechanismProvider {

  @Override
  public Mechanism mechanism(MongoCredential credential) {
    AuthenticationMechanism mechanism =
        Objects.requireNonNull(credential.getAuthenticationMechanism());
    return switch (mechanism) {
      case GSSAPI -> gssapi(credential);
      case MONGODB_AWS -> aws(awsCredentials(credential));
      case MONGODB_OIDC -> oidc(credential);
      default -> throw new IllegalArgumentException("this module has no mechanism " + mechanism);
    };
  }

  /** Creates GSSAPI (Kerberos), which uses the Java runtime's SASL client. */
  private static Mechanism gssapi(MongoCredential credential) {
    Subject subject = credential.getMechanismProperty(JAVA_SUBJECT_KEY, null);
    SubjectProvider given = credential.getMechanismProperty(JAVA_SUBJECT_PROVIDER_KEY, null);
    SubjectProvider subjects =
        subject != null ? () -> subject : given != null ? given : new KerberosSubjectProvider();
    return new SaslMechanism(
        "GSSAPI",
        "user " + credential.getUserName() + "@" + EXTERNAL,
        EXTERNAL,
        host -> new GssapiSteps(host, credential, subjects));
  }

  /**
   * Creates MONGODB-AWS.
   *
   * @param credentials returns the credential of a connection; called for each connection; may
   *     block
   */
  static Mechanism aws(Supplier<AwsCredential> credentials) {
    return new SaslMechanism(
        "MONGODB-AWS",
        "the AWS identity",
        EXTERNAL,
        host -> new AwsSteps(credentials, Clock.systemUTC()));
  }

  private static Supplier<AwsCredential> awsCredentials(MongoCredential credential) {
    Supplier<AwsCredential> given =
        credential.getMechanismProperty(AWS_CREDENTIAL_PROVIDER_KEY, null);
    String user = credential.getUserName();
    if (user != null && given != null) {
      throw new IllegalArgumentException(
          AWS_CREDENTIAL_PROVIDER_KEY + " needs a credential without a user name");
    }
    if (user == null) {
      return given == null ? new AwsEnvironment() : given;
    }
    AwsCredential fixed =
        new AwsCredential(
            user,
            new String(Objects.requireNonNull(credential.getPassword())),
            credential.getMechanismProperty(AWS_SESSION_TOKEN_KEY, null));
    return () -> fixed;
  }

  private static Mechanism oidc(MongoCredential credential) {
    String environment = credential.getMechanismProperty(ENVIRONMENT_KEY, null);
    OidcCallback machines = credential.getMechanismProperty(OIDC_CALLBACK_KEY, null);
    OidcCallback persons = credential.getMechanismProperty(OIDC_HUMAN_CALLBACK_KEY, null);
    if (Stream.of(environment, machines, persons).filter(Objects::nonNull).count() != 1) {
      throw new IllegalArgumentException(
          "MONGODB-OIDC needs exactly one of the properties "
              + List.of(ENVIRONMENT_KEY, OIDC_CALLBACK_KEY, OIDC_HUMAN_CALLBACK_KEY));
    }
    String user = credential.getUserName();
    if (persons != null) {
      return new OidcMechanism(
          user,
          persons,
          credential.<List<String>>getMechanismProperty(ALLOWED_HOSTS_KEY, DEFAULT_ALLOWED_HOSTS));
    }
    if (environment == null) {
      return new OidcMechanism(user, Objects.requireNonNull(machines), null);
    }
    if (user != null && !environment.equals("azure")) {
      throw new IllegalArgumentException(
          "the environment " + environment + " needs a credential without a user name");
    }
    String resource = credential.getMechanismProperty(TOKEN_RESOURCE_KEY, null);
    return new OidcMechanism(user, new OidcEnvironment(environment, resource), null);
  }
}
