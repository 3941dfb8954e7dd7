package dev.onehop.it.unified;

import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.binaries.PipDownload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The drivers' unified specification tests, in the JSON files of PyMongo's source distribution.
 * They are downloaded once into OneHop's cache folder.
 */
final class SpecificationFiles {
  /** The folders in the order of the run. The tests of the test runner itself come first. */
  static final List<String> FOLDERS =
      List.of(
          "unified-test-format/valid-pass",
          "crud",
          "collection_management",
          "command_monitoring",
          "read_write_concern",
          "run_command",
          "versioned-api",
          "index_management",
          "gridfs",
          "sessions",
          "transactions",
          "retryable_reads",
          "retryable_writes",
          "change_streams",
          "csot");

  private static final String REQUIREMENT = "pymongo==4.16.0";
  private static final String SHA256 =
      "8ba8405065f6e258a6f872fe62d797a28f383a12178c7153c01ed04e845c600c";

  private SpecificationFiles() {}

  /** Every test of a folder, in the order of the files' names. */
  static List<SpecificationTest> in(String folder) {
    Path root = root();
    List<SpecificationTest> tests = new ArrayList<>();
    try (Stream<Path> files = Files.walk(root.resolve(folder))) {
      for (Path file : files.filter(each -> each.toString().endsWith(".json")).sorted().toList()) {
        BsonDocument parsed = BsonDocument.parse(Files.readString(file));
        // Some folders also have tests in other formats, for example of connection strings.
        if (parsed.containsKey("schemaVersion")) {
          String name = root.relativize(file).toString().replace(".json", "");
          for (BsonValue test : parsed.getArray("tests")) {
            tests.add(new SpecificationTest(name, parsed, test.asDocument()));
          }
        }
      }
      return tests;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path root() {
    Path folder =
        BinaryFinder.cacheFolder(System.getenv())
            .resolve("specifications")
            .resolve(REQUIREMENT.replace("==", "-"));
    @Nullable String refused = PipDownload.sources(REQUIREMENT, SHA256).extract(folder, "test");
    if (refused != null) {
      String message = "the drivers' specification tests can't be downloaded: " + refused;
      if (System.getenv("CI") != null) {
        throw new AssertionError(message);
      }
      Assumptions.abort(message);
    }
    return folder;
  }
}
