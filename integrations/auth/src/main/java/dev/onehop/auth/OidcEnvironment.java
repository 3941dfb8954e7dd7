package dev.onehop.auth;

import com.mongodb.MongoCredential.OidcCallback;
import com.mongodb.MongoCredential.OidcCallbackContext;
import com.mongodb.MongoCredential.OidcCallbackResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/** Gets tokens in the environments that the driver supports without a callback. */
final class OidcEnvironment implements OidcCallback {
  private static final String AZURE =
      "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=";
  private static final String GCP =
      "http://metadata/computeMetadata/v1/instance/service-accounts/default/identity?audience=";
  private static final String KUBERNETES = "/var/run/secrets/kubernetes.io/serviceaccount/token";

  private final String name;
  private final @Nullable String resource;
  private final UnaryOperator<@Nullable String> environment;
  private final MetadataService service;

  /**
   * @param name the environment: {@code test}, {@code azure}, {@code gcp} or {@code k8s}
   * @param resource the property {@code TOKEN_RESOURCE} for azure and gcp; null for other
   *     environments
   * @throws IllegalArgumentException if the environment is unknown, or {@code resource} is null for
   *     azure or gcp, or not null for another environment
   */
  OidcEnvironment(String name, @Nullable String resource) {
    this(name, resource, System::getenv, MetadataService.HTTP);
  }

  OidcEnvironment(
      String name,
      @Nullable String resource,
      UnaryOperator<@Nullable String> environment,
      MetadataService service) {
    boolean wantsResource =
        switch (name) {
          case "azure", "gcp" -> true;
          case "test", "k8s" -> false;
          default ->
              throw new IllegalArgumentException(
                  "ENVIRONMENT must be one of azure, gcp, k8s, test, not " + name);
        };
    if (wantsResource != (resource != null)) {
      throw new IllegalArgumentException(
          "the environments azure and gcp need TOKEN_RESOURCE, and other environments refuse it");
    }
    this.name = name;
    this.resource = resource;
    this.environment = environment;
    this.service = service;
  }

  @Override
  public OidcCallbackResult onRequest(OidcCallbackContext request) {
    try {
      return new OidcCallbackResult(
          switch (name) {
            case "azure" -> azure(request.getUserName());
            case "gcp" ->
                service.request("GET", GCP + encoded(), Map.of("Metadata-Flavor", "Google"));
            case "k8s" -> Files.readString(Path.of(kubernetesFile()));
            default -> Files.readString(Path.of(testFile()));
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  private String azure(@Nullable String client) throws IOException {
    String url =
        AZURE
            + encoded()
            + (client == null
                ? ""
                : "&client_id=" + URLEncoder.encode(client, StandardCharsets.UTF_8));
    String answer =
        service.request("GET", url, Map.of("Metadata", "true", "Accept", "application/json"));
    return BsonDocument.parse(answer).getString("access_token").getValue();
  }

  private String encoded() {
    return URLEncoder.encode(Objects.requireNonNull(resource), StandardCharsets.UTF_8);
  }

  private String kubernetesFile() {
    String azure = environment.apply("AZURE_FEDERATED_TOKEN_FILE");
    String aws = environment.apply("AWS_WEB_IDENTITY_TOKEN_FILE");
    return azure != null ? azure : aws != null ? aws : KUBERNETES;
  }

  private String testFile() {
    String file = environment.apply("OIDC_TOKEN_FILE");
    if (file == null) {
      throw new IllegalStateException("the environment variable OIDC_TOKEN_FILE is not set");
    }
    return file;
  }
}
