package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunSummaryTest {
  private static final RunSummary SUMMARY =
      new RunSummary(
          "targeted-async",
          1_000_000_000L,
          3_500_000_000L,
          10_000_000_000L,
          2,
          7,
          2.5,
          true,
          Map.of("owner", 9L, "no-table", 1L),
          new BatchMeans(12, 0.015),
          null,
          null);

  @Test
  void writesPlainJson(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("new/folder/summary.json");

    SUMMARY.writeTo(file);

    BsonDocument json = BsonDocument.parse(Files.readString(file));
    assertThat(json.keySet())
        .containsExactly(
            "mode",
            "firstOperationNanos",
            "lastOperationNanos",
            "measuredSeconds",
            "operations",
            "errors",
            "mongoDriver",
            "warmupOperations",
            "warmupSeconds",
            "routes",
            "steady",
            "error",
            "windows");
    assertThat(json.getString("mode").getValue()).isEqualTo("targeted-async");
    assertThat(json.getDouble("measuredSeconds").getValue()).isEqualTo(2.5);
    assertThat(json.getInt64("operations").getValue()).isEqualTo(10_000_000_000L);
    assertThat(json.getNumber("errors").intValue()).isEqualTo(2);
    assertThat(json.getString("mongoDriver").getValue()).matches("\\d+\\.\\d+\\.\\d+.*");
    assertThat(json.getDocument("routes").getNumber("owner").intValue()).isEqualTo(9);
    // Plain JSON, because other programs can't read extended JSON.
    assertThat(Files.readString(file)).doesNotContain("$");
  }

  /**
   * The class does not contain the value of the driver's constant. Otherwise the summary would have
   * the driver's version at build time.
   */
  @Test
  void reportsDriverVersionAtRuntime() throws IOException {
    String path = RunSummary.class.getName().replace('.', '/') + ".class";
    try (InputStream compiled =
        Objects.requireNonNull(RunSummary.class.getClassLoader().getResourceAsStream(path))) {
      assertThat(new String(compiled.readAllBytes(), StandardCharsets.ISO_8859_1))
          .doesNotContain(driverJarsVersion());
    }
    assertThat(BsonDocument.parse(SUMMARY.toJson()).getString("mongoDriver").getValue())
        .isEqualTo(driverJarsVersion());
  }

  /** The version in the name of the driver's jar: {@code mongodb-driver-core-VERSION.jar}. */
  private static String driverJarsVersion() {
    String jar = MongoException.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceFirst(".*mongodb-driver-core-", "").replaceFirst("\\.jar$", "");
  }

  @Test
  void replacesEarlierFile(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("summary.json"), "x".repeat(10_000));

    SUMMARY.writeTo(file);

    assertThat(BsonDocument.parse(Files.readString(file))).containsKey("mode");
  }
}
