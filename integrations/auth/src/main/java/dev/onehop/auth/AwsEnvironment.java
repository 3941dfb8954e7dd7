package dev.onehop.auth;

import com.mongodb.AwsCredential;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Finds AWS credentials in the same order as the driver: in environment variables, then at the
 * container service, then at the machine's metadata service.
 */
final class AwsEnvironment implements Supplier<AwsCredential> {
  private static final String CONTAINERS = "http://169.254.170.2";
  private static final String MACHINE = "http://169.254.169.254/latest/";
  private static final String ROLES = MACHINE + "meta-data/iam/security-credentials/";
  private static final String TOKEN_HEADER = "X-aws-ec2-metadata-token";

  private final UnaryOperator<@Nullable String> environment;
  private final MetadataService service;

  AwsEnvironment() {
    this(System::getenv, MetadataService.HTTP);
  }

  AwsEnvironment(UnaryOperator<@Nullable String> environment, MetadataService service) {
    this.environment = environment;
    this.service = service;
  }

  @Override
  public AwsCredential get() {
    String key = environment.apply("AWS_ACCESS_KEY_ID");
    if (key != null) {
      String secret = environment.apply("AWS_SECRET_ACCESS_KEY");
      if (secret == null) {
        throw new IllegalStateException(
            "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is missing");
      }
      return new AwsCredential(key, secret, environment.apply("AWS_SESSION_TOKEN"));
    }
    try {
      BsonDocument found = BsonDocument.parse(fromService());
      return new AwsCredential(
          found.getString("AccessKeyId").getValue(),
          found.getString("SecretAccessKey").getValue(),
          found.getString("Token").getValue());
    } catch (IOException e) {
      throw new UncheckedIOException("found no AWS credentials: " + e.getMessage(), e);
    }
  }

  private String fromService() throws IOException {
    String container = environment.apply("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    if (container != null) {
      return service.request("GET", CONTAINERS + container, Map.of("Accept", "application/json"));
    }
    Map<String, String> token =
        Map.of(
            TOKEN_HEADER,
            service.request(
                "PUT", MACHINE + "api/token", Map.of(TOKEN_HEADER + "-ttl-seconds", "30")));
    String role = service.request("GET", ROLES, token).strip();
    return service.request("GET", ROLES + role, token);
  }
}
