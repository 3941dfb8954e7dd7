package dev.onehop.wire.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;

/** The metadata of hello, and the specification's rules to shorten it. */
class ClientMetadataTest {
  private static final Map<String, String> LAMBDA =
      Map.of(
          "AWS_EXECUTION_ENV", "AWS_Lambda_java17",
          "AWS_REGION", "us-east-2",
          "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "1024");

  private static BsonDocument metadata(
      String application, String driver, Map<String, String> variables) {
    return ClientMetadata.of(application, driver, "5.8.0", variables::get, false);
  }

  private static int bytes(BsonDocument document) {
    return new RawBsonDocument(document, new BsonDocumentCodec()).getByteBuffer().remaining();
  }

  @Test
  void namesOneHopAfterDriver() {
    BsonDocument client = metadata("shop", "mongo-java-driver", Map.of());

    assertThat(client.getDocument("application"))
        .isEqualTo(new BsonDocument("name", new BsonString("shop")));
    assertThat(client.getDocument("driver"))
        .isEqualTo(
            new BsonDocument("name", new BsonString("mongo-java-driver|OneHop"))
                .append("version", new BsonString("5.8.0|" + ClientMetadata.version())));
    assertThat(client.getDocument("os")).containsKeys("type", "name", "architecture", "version");
    assertThat(client.getString("platform").getValue()).startsWith("Java/");
    assertThat(client).doesNotContainKey("env");
  }

  @Test
  void hasVersionOfBuild() {
    assertThat(ClientMetadata.version()).matches("\\d+\\.\\d+\\.\\d+.*");
  }

  @Test
  void detectsEnvironment() {
    assertThat(metadata(null, null, LAMBDA).getDocument("env"))
        .isEqualTo(
            BsonDocument.parse("{name: 'aws.lambda', memory_mb: 1024, region: 'us-east-2'}"));
    assertThat(metadata(null, null, Map.of("FUNCTIONS_WORKER_RUNTIME", "java")).getDocument("env"))
        .isEqualTo(BsonDocument.parse("{name: 'azure.func'}"));
    assertThat(
            metadata(
                    null,
                    null,
                    Map.of("K_SERVICE", "s", "FUNCTION_MEMORY_MB", "2", "FUNCTION_REGION", "r"))
                .getDocument("env"))
        .isEqualTo(BsonDocument.parse("{name: 'gcp.func', memory_mb: 2, region: 'r'}"));
    assertThat(
            ClientMetadata.of(null, null, null, Map.of("KUBERNETES_SERVICE_HOST", "h")::get, true)
                .getDocument("env"))
        .isEqualTo(
            BsonDocument.parse("{container: {runtime: 'docker', orchestrator: 'kubernetes'}}"));
    // If two environments are detected, hello has none.
    assertThat(
            metadata(
                null,
                null,
                Map.of(
                    "AWS_EXECUTION_ENV", "AWS_Lambda_java17", "FUNCTIONS_WORKER_RUNTIME", "java")))
        .doesNotContainKey("env");
  }

  /**
   * Parts are left out in this order: details of the environment, details of the system, the
   * environment, then other fields.
   */
  @Test
  void omitsFieldsInOrderIfTooLong() {
    int room = 512 - bytes(metadata("", "d", LAMBDA));
    assertThat(bytes(metadata("x".repeat(room), "d", LAMBDA))).isEqualTo(512);

    BsonDocument first = metadata("x".repeat(room + 1), "d", LAMBDA);
    assertThat(first.getDocument("env")).isEqualTo(BsonDocument.parse("{name: 'aws.lambda'}"));
    assertThat(first.getDocument("os")).containsKey("architecture");

    int second = 512 - bytes(first) + room + 2;
    BsonDocument withoutSystem = metadata("x".repeat(second), "d", LAMBDA);
    assertThat(withoutSystem.getDocument("os")).containsOnlyKeys("type");
    assertThat(withoutSystem.getDocument("env")).containsOnlyKeys("name");

    int third = 512 - bytes(withoutSystem) + second + 1;
    BsonDocument withoutEnvironment = metadata("x".repeat(third), "d", LAMBDA);
    assertThat(withoutEnvironment).doesNotContainKey("env");

    int fourth = 512 - bytes(withoutEnvironment) + third + 5;
    BsonDocument shorter = metadata("x".repeat(fourth), "d", LAMBDA);
    assertThat(bytes(shorter)).isEqualTo(512);
    assertThat(withoutEnvironment.getString("platform").getValue())
        .startsWith(shorter.getString("platform").getValue())
        .hasSize(shorter.getString("platform").getValue().length() + 5);
  }
}
