package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import picocli.CommandLine.Option;

/** Which documents of a source are meant, and what they are called at the destination. */
@HelpGroup("Selection")
final class SelectionOptions {
  @Option(
      names = {"--include", "--collections"},
      split = ",",
      paramLabel = "NAME",
      description =
          "Databases or database.collection of the source, where * stands for any characters."
              + " Default: all but the servers' own.")
  List<String> included = new ArrayList<>();

  @Option(
      names = "--exclude",
      split = ",",
      paramLabel = "NAME",
      description = "What is left out, even if it is included.")
  List<String> excluded = new ArrayList<>();

  @Option(
      names = "--rename",
      split = ",",
      paramLabel = "NAME=NAME",
      description =
          "What has another name at the destination: two databases, or two times"
              + " database.collection.")
  Map<String, String> renamed = new HashMap<>();

  @Option(
      names = "--filter",
      paramLabel = "COLLECTION=JSON",
      description =
          "Which documents of a collection of the source the destination gets, as a query filter.")
  private Map<String, String> filters = new HashMap<>();

  /**
   * The filters by collection.
   *
   * @throws Failure if one is no query filter
   */
  Map<String, BsonDocument> filters() {
    Map<String, BsonDocument> parsed = new HashMap<>();
    filters.forEach((name, filter) -> parsed.put(name, ExplainCommand.filter(filter)));
    return parsed;
  }
}
