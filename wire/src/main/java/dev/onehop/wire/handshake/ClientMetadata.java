package dev.onehop.wire.handshake;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;
import java.util.function.UnaryOperator;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/**
 * The {@code client} document of hello: the application, the driver and the machine. Source: the
 * drivers' specification "MongoDB Handshake", including its size limit and the order in which
 * fields are left out.
 */
public final class ClientMetadata {
  private static final int MOST_BYTES = 512;
  private static final String OURS = "OneHop";

  private ClientMetadata() {}

  /**
   * Creates the document.
   *
   * @param application the application's name, null if it has none
   * @param driver the name of the driver, to which OneHop's name is added; null if there is none
   * @param driverVersion null if it is not known
   */
  public static BsonDocument of(
      @Nullable String application, @Nullable String driver, @Nullable String driverVersion) {
    return of(
        application, driver, driverVersion, System::getenv, Files.exists(Path.of("/.dockerenv")));
  }

  static BsonDocument of(
      @Nullable String application,
      @Nullable String driver,
      @Nullable String driverVersion,
      UnaryOperator<@Nullable String> environment,
      boolean inDocker) {
    BsonDocument client = new BsonDocument();
    if (application != null) {
      client.append("application", new BsonDocument("name", new BsonString(application)));
    }
    client
        .append(
            "driver",
            new BsonDocument("name", new BsonString(driver == null ? OURS : driver + "|" + OURS))
                .append(
                    "version",
                    new BsonString(
                        driver == null
                            ? version()
                            : (driverVersion == null ? "unknown" : driverVersion)
                                + "|"
                                + version())))
        .append(
            "os",
            new BsonDocument("type", new BsonString(osType()))
                .append("name", property("os.name"))
                .append("architecture", property("os.arch"))
                .append("version", property("os.version")))
        .append(
            "platform",
            new BsonString(
                "Java/"
                    + System.getProperty("java.vendor")
                    + "/"
                    + System.getProperty("java.runtime.version")));
    BsonDocument env = environment(environment, inDocker);
    if (!env.isEmpty()) {
      client.append("env", env);
    }
    return limited(client);
  }

  /** OneHop's version, from the build. */
  public static String version() {
    Properties properties = new Properties();
    try (InputStream in = ClientMetadata.class.getResourceAsStream("version.properties")) {
      if (in == null) {
        return "unknown";
      }
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "unknown");
  }

  private static BsonString property(String name) {
    return new BsonString(System.getProperty(name, "unknown"));
  }

  private static String osType() {
    String name = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    return name.startsWith("linux")
        ? "Linux"
        : name.startsWith("mac") ? "Darwin" : name.startsWith("windows") ? "Windows" : "unknown";
  }

  private static BsonDocument environment(
      UnaryOperator<@Nullable String> environment, boolean inDocker) {
    BsonDocument env = new BsonDocument();
    String lambda = environment.apply("AWS_EXECUTION_ENV");
    boolean aws =
        (lambda != null && lambda.startsWith("AWS_Lambda_"))
            || environment.apply("AWS_LAMBDA_RUNTIME_API") != null;
    boolean vercel = environment.apply("VERCEL") != null;
    boolean azure = environment.apply("FUNCTIONS_WORKER_RUNTIME") != null;
    boolean gcp =
        environment.apply("K_SERVICE") != null || environment.apply("FUNCTION_NAME") != null;
    // By the specification, several matching environments count as none. Vercel and AWS count as
    // one environment, because Vercel runs on AWS.
    int found = (aws || vercel ? 1 : 0) + (azure ? 1 : 0) + (gcp ? 1 : 0);
    if (found == 1 && vercel) {
      env.append("name", new BsonString("vercel"));
      string(env, "region", environment.apply("VERCEL_REGION"));
    } else if (found == 1 && aws) {
      env.append("name", new BsonString("aws.lambda"));
      number(env, "memory_mb", environment.apply("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"));
      string(env, "region", environment.apply("AWS_REGION"));
    } else if (found == 1 && azure) {
      env.append("name", new BsonString("azure.func"));
    } else if (found == 1) {
      env.append("name", new BsonString("gcp.func"));
      number(env, "timeout_sec", environment.apply("FUNCTION_TIMEOUT_SEC"));
      number(env, "memory_mb", environment.apply("FUNCTION_MEMORY_MB"));
      string(env, "region", environment.apply("FUNCTION_REGION"));
    }
    BsonDocument container = new BsonDocument();
    if (inDocker) {
      container.append("runtime", new BsonString("docker"));
    }
    if (environment.apply("KUBERNETES_SERVICE_HOST") != null) {
      container.append("orchestrator", new BsonString("kubernetes"));
    }
    if (!container.isEmpty()) {
      env.append("container", container);
    }
    return env;
  }

  private static void string(BsonDocument into, String field, @Nullable String value) {
    if (value != null) {
      into.append(field, new BsonString(value));
    }
  }

  private static void number(BsonDocument into, String field, @Nullable String value) {
    if (value != null && value.matches("\\d{1,9}")) {
      into.append(field, new BsonInt32(Integer.parseInt(value)));
    }
  }

  private static BsonDocument limited(BsonDocument client) {
    if (bytes(client) > MOST_BYTES && client.isDocument("env")) {
      client.getDocument("env").keySet().removeIf(field -> !field.equals("name"));
    }
    if (bytes(client) > MOST_BYTES) {
      client.getDocument("os").keySet().removeIf(field -> !field.equals("type"));
    }
    if (bytes(client) > MOST_BYTES) {
      client.remove("env");
    }
    int excess = bytes(client) - MOST_BYTES;
    if (excess > 0) {
      client.put("platform", new BsonString(shorter(client, "platform", excess)));
    }
    // The specification does not require this step. But if the document were still too large, every
    // connection would fail.
    excess = bytes(client) - MOST_BYTES;
    if (excess > 0) {
      BsonDocument driver = client.getDocument("driver");
      driver.put("name", new BsonString(shorter(driver, "name", excess)));
    }
    return client;
  }

  private static String shorter(BsonDocument of, String field, int excess) {
    byte[] text = of.getString(field).getValue().getBytes(StandardCharsets.UTF_8);
    int end = Math.max(0, text.length - excess);
    // Does not cut within a character.
    while (end > 0 && end < text.length && (text[end] & 0xC0) == 0x80) {
      end--;
    }
    return new String(text, 0, end, StandardCharsets.UTF_8);
  }

  private static int bytes(BsonDocument document) {
    return new RawBsonDocument(document, new BsonDocumentCodec()).getByteBuffer().remaining();
  }
}
