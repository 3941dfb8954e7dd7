package dev.onehop.cli;

import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import picocli.CommandLine.Option;

/** The selected documents of a source, and their names at the destination. */
@HelpGroup("Selection")
final class SelectionOptions {
  @Option(
      names = {"--include", "--collections"},
      split = ",",
      paramLabel = "NAME",
      description =
          "Databases or collections of the source, such as shop or shop.orders; * matches any"
              + " characters. Default: all except the servers' own.")
  List<String> included = new ArrayList<>();

  @Option(
      names = "--exclude",
      split = ",",
      paramLabel = "NAME",
      description = "Databases or collections to leave out, even if --include names them.")
  List<String> excluded = new ArrayList<>();

  @Option(
      names = "--rename",
      split = ",",
      paramLabel = "NAME=NAME",
      description =
          "A new name at the destination for a database or collection: shop=shop2 or"
              + " shop.orders=shop2.orders.")
  Map<String, String> renamed = new HashMap<>();

  @Option(
      names = "--filter",
      paramLabel = "COLLECTION=JSON",
      description = "A query filter. Only matching documents are copied or compared.")
  private Map<String, String> filters = new HashMap<>();

  /**
   * The filters by collection.
   *
   * @throws Failure if one is not a query filter
   */
  Map<String, BsonDocument> filters() {
    Map<String, BsonDocument> parsed = new HashMap<>();
    filters.forEach((name, filter) -> parsed.put(name, ExplainCommand.filter(filter)));
    return parsed;
  }
}
