package dev.onehop.auth;

import static com.mongodb.MongoCredential.ALLOWED_HOSTS_KEY;
import static com.mongodb.MongoCredential.AWS_CREDENTIAL_PROVIDER_KEY;
import static com.mongodb.MongoCredential.AWS_SESSION_TOKEN_KEY;
import static com.mongodb.MongoCredential.CANONICALIZE_HOST_NAME_KEY;
import static com.mongodb.MongoCredential.DEFAULT_ALLOWED_HOSTS;
import static com.mongodb.MongoCredential.ENVIRONMENT_KEY;
import static com.mongodb.MongoCredential.JAVA_SASL_CLIENT_PROPERTIES_KEY;
import static com.mongodb.MongoCredential.JAVA_SUBJECT_KEY;
import static com.mongodb.MongoCredential.JAVA_SUBJECT_PROVIDER_KEY;
import static com.mongodb.MongoCredential.OIDC_CALLBACK_KEY;
import static com.mongodb.MongoCredential.OIDC_HUMAN_CALLBACK_KEY;
import static com.mongodb.MongoCredential.SERVICE_NAME_KEY;
import static com.mongodb.MongoCredential.TOKEN_RESOURCE_KEY;

import com.mongodb.AuthenticationMechanism;
import com.mongodb.AwsCredential;
import com.mongodb.KerberosSubjectProvider;
import com.mongodb.MongoCredential;
import com.mongodb.SubjectProvider;
import dev.onehop.wire.driver.MechanismProvider;
import dev.onehop.wire.handshake.Mechanism;
import dev.onehop.wire.handshake.SaslMechanism;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import javax.security.auth.Subject;
import org.jspecify.annotations.Nullable;

/** GSSAPI, MONGODB-AWS and MONGODB-OIDC, by what a credential says. */
public final class AuthMechanisms implements MechanismProvider {

  @Override
  public Mechanism mechanism(MongoCredential credential) {
    AuthenticationMechanism mechanism =
        Objects.requireNonNull(credential.getAuthenticationMechanism());
    return switch (mechanism) {
      case GSSAPI -> gssapi(credential);
      case MONGODB_AWS -> aws(credential);
      case MONGODB_OIDC -> oidc(credential);
      default -> throw new IllegalArgumentException("no mechanism of this module: " + mechanism);
    };
  }

  /**
   * GSSAPI, which is Kerberos, by the Java runtime's SASL client.
   *
   * @param settings what to ask the runtime for
   */
  static Mechanism gssapi(String user, GssapiSettings settings) {
    return new SaslMechanism(
        "GSSAPI",
        "user " + user + "@" + Mechanism.EXTERNAL,
        Mechanism.EXTERNAL,
        host -> new GssapiSteps(user, host, settings));
  }

  /**
   * What GSSAPI needs beside the user.
   *
   * @param service the service's name, {@code mongodb} as a rule
   * @param canonicalHost whether the host's name is looked up in both directions first
   * @param subject who is logged in, by the time of the call; null for the runtime's own way
   * @param properties for the SASL client, null for the usual ones
   */
  record GssapiSettings(
      String service,
      boolean canonicalHost,
      @Nullable SubjectSource subject,
      @Nullable Map<String, ?> properties) {}

  /** Gives who is logged in to Kerberos. May block. */
  @FunctionalInterface
  interface SubjectSource {
    @Nullable Subject get() throws Exception;
  }

  /**
   * MONGODB-AWS.
   *
   * @param credentials called for every connection; may block
   */
  static Mechanism aws(Supplier<AwsCredentials> credentials) {
    return new SaslMechanism(
        "MONGODB-AWS",
        "the AWS identity",
        Mechanism.EXTERNAL,
        host -> new AwsSteps(credentials, java.time.Clock.systemUTC()));
  }

  private static Mechanism gssapi(MongoCredential credential) {
    Subject subject = credential.getMechanismProperty(JAVA_SUBJECT_KEY, null);
    SubjectProvider given = credential.getMechanismProperty(JAVA_SUBJECT_PROVIDER_KEY, null);
    SubjectProvider provider =
        given == null && subject == null ? new KerberosSubjectProvider() : given;
    return gssapi(
        Objects.requireNonNull(credential.getUserName()),
        new GssapiSettings(
            credential.<String>getMechanismProperty(SERVICE_NAME_KEY, "mongodb"),
            isTrue(credential.<Object>getMechanismProperty(CANONICALIZE_HOST_NAME_KEY, false)),
            subject != null ? () -> subject : provider == null ? null : provider::getSubject,
            credential.getMechanismProperty(JAVA_SASL_CLIENT_PROPERTIES_KEY, null)));
  }

  // As the connection string has it, it is a text.
  private static boolean isTrue(Object value) {
    return Boolean.parseBoolean(String.valueOf(value));
  }

  private static Mechanism aws(MongoCredential credential) {
    Supplier<AwsCredential> given =
        credential.getMechanismProperty(AWS_CREDENTIAL_PROVIDER_KEY, null);
    String user = credential.getUserName();
    if (user != null && given != null) {
      throw new IllegalArgumentException(
          AWS_CREDENTIAL_PROVIDER_KEY + " is for a credential without a user");
    }
    if (given != null) {
      return aws(
          () -> {
            AwsCredential found = given.get();
            return new AwsCredentials(
                found.getAccessKeyId(), found.getSecretAccessKey(), found.getSessionToken());
          });
    }
    if (user == null) {
      return aws(new AwsEnvironment());
    }
    AwsCredentials fixed =
        new AwsCredentials(
            user,
            new String(Objects.requireNonNull(credential.getPassword())),
            credential.getMechanismProperty(AWS_SESSION_TOKEN_KEY, null));
    return aws(() -> fixed);
  }

  private static Mechanism oidc(MongoCredential credential) {
    String environment = credential.getMechanismProperty(ENVIRONMENT_KEY, null);
    MongoCredential.OidcCallback machines =
        credential.getMechanismProperty(OIDC_CALLBACK_KEY, null);
    MongoCredential.OidcCallback persons =
        credential.getMechanismProperty(OIDC_HUMAN_CALLBACK_KEY, null);
    int given =
        (environment == null ? 0 : 1) + (machines == null ? 0 : 1) + (persons == null ? 0 : 1);
    if (given != 1) {
      throw new IllegalArgumentException(
          "MONGODB-OIDC needs one of "
              + List.of(ENVIRONMENT_KEY, OIDC_CALLBACK_KEY, OIDC_HUMAN_CALLBACK_KEY));
    }
    String user = credential.getUserName();
    if (environment != null) {
      if (user != null && !environment.equals("azure")) {
        throw new IllegalArgumentException(
            "the environment " + environment + " takes no user name");
      }
      return new OidcMechanism(
          user,
          new OidcEnvironment(
              environment, credential.getMechanismProperty(TOKEN_RESOURCE_KEY, null)),
          null);
    }
    MongoCredential.OidcCallback callback =
        machines != null ? machines : Objects.requireNonNull(persons);
    return new OidcMechanism(
        user,
        request -> token(callback.onRequest(new CallbackContext(request))),
        persons == null
            ? null
            : credential.<List<String>>getMechanismProperty(
                ALLOWED_HOSTS_KEY, DEFAULT_ALLOWED_HOSTS));
  }

  private static OidcTokens.Token token(MongoCredential.@Nullable OidcCallbackResult result) {
    if (result == null) {
      throw new IllegalStateException("the OIDC callback gave no result");
    }
    return new OidcTokens.Token(result.getAccessToken(), result.getRefreshToken());
  }

  private record CallbackContext(OidcTokens.Request request)
      implements MongoCredential.OidcCallbackContext {
    @Override
    public @Nullable String getUserName() {
      return request.user();
    }

    @Override
    public Duration getTimeout() {
      return request.timeout();
    }

    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public MongoCredential.@Nullable IdpInfo getIdpInfo() {
      OidcTokens.IdentityProvider provider = request.provider();
      return provider == null ? null : new Provider(provider);
    }

    @Override
    public @Nullable String getRefreshToken() {
      return request.refreshToken();
    }
  }

  private record Provider(OidcTokens.IdentityProvider provider) implements MongoCredential.IdpInfo {
    @Override
    public String getIssuer() {
      return provider.issuer();
    }

    @Override
    public @Nullable String getClientId() {
      return provider.clientId();
    }

    @Override
    public List<String> getRequestScopes() {
      return provider.scopes();
    }
  }
}
