package dev.onehop.cli;

import com.mongodb.ConnectionString;
import com.mongodb.MongoException;
import com.mongodb.MongoTimeoutException;
import dev.onehop.core.table.Chunk;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.TargetExplanation;
import dev.onehop.resync.Failure;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouteExplanation;
import java.util.List;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.bson.json.JsonParseException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code onehop explain}. */
@Command(
    name = "explain",
    defaultValueProvider = OwnDefaults.class,
    header = "Show which shards a filter is routed to, and why.",
    description =
        "Reads the routing table of a collection through a mongos of any sharded cluster. Shows the"
            + " chunks and shards that a query with this filter must touch, the reason, and the"
            + " mongos to which the query would go. Reads only the config database.",
    footer = {
      "Examples:",
      "  onehop explain --url mongodb://127.0.0.1:27017 ycsb.usertable '{_id: \"user42\"}'",
      "  onehop explain --url mongodb://host shop.orders '{customer: {$in: [1, 2]}}'"
    })
final class ExplainCommand extends Subcommand {

  /** The most chunks in the output. More lines would push the result off the screen. */
  private static final int MAX_CHUNKS = 20;

  @Option(
      names = "--url",
      required = true,
      paramLabel = "URL",
      description = "Connection string of a mongos.")
  private String url;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  @Parameters(index = "0", paramLabel = "NAMESPACE", description = "database.collection")
  private String namespace;

  @Parameters(index = "1", paramLabel = "FILTER-JSON", description = "The filter of a find.")
  private String filterJson;

  @Override
  public Integer call() {
    Refuse.when(
        namespace.indexOf('.') < 1 || namespace.endsWith("."),
        "'" + namespace + "' is not a namespace; write database.collection");
    BsonDocument filter = filter(filterJson);
    String hosts = String.join(",", connection(url).getHosts());
    try (OneHop router =
        OneHop.builder(url).applyToClientSettings(connection.client("onehop-explain")).build()) {
      RouteExplanation explanation = router.explain(namespace, filter);
      Target target = explanation.target();
      if (target == null) {
        throw Failure.run(explanation.reason(), null);
      }
      print(explanation, target, filter);
    } catch (MongoTimeoutException e) {
      throw Failure.run(
          "cannot reach " + hosts + " within " + connection.timeout().toMillis() + " ms", e);
    } catch (MongoException e) {
      throw Failure.run("cannot use " + hosts + ": " + Failure.firstLine(e), e);
    } catch (IllegalArgumentException e) {
      throw Failure.usage("--url: " + Failure.firstLine(e));
    }
    return 0;
  }

  static BsonDocument filter(String json) {
    try {
      return BsonDocument.parse(json);
    } catch (JsonParseException | IllegalArgumentException e) {
      throw Failure.usage("the filter is not a JSON object: " + Failure.firstLine(e));
    }
  }

  private static ConnectionString connection(String url) {
    try {
      return new ConnectionString(url);
    } catch (IllegalArgumentException | MongoException e) {
      throw Failure.usage("--url: " + Failure.firstLine(e));
    }
  }

  private void print(RouteExplanation route, Target target, BsonDocument filter) {
    TargetExplanation explanation = target.explain(MAX_CHUNKS);
    BsonDocument key = explanation.shardKey();
    print("collection", explanation.namespace());
    print("shard key", key == null ? "none, the collection is unsharded" : key.toJson());
    print("filter", filter.toJson());
    print("reason", explanation.reason());
    if (key != null) {
      print("chunks", explanation.touchedChunks() + " of " + explanation.totalChunks());
      for (Chunk chunk : explanation.chunks()) {
        out().printf("  [%s, %s)  %s%n", chunk.min().toJson(), chunk.max().toJson(), chunk.shard());
      }
      int more = explanation.touchedChunks() - explanation.chunks().size();
      if (more > 0) {
        out().println("  and " + more + " more");
      }
    }
    List<String> shards = explanation.shards();
    String count = shards.size() == 1 ? "one shard, " : shards.size() + " shards, ";
    String why =
        explanation.broadcast() ? ", because the filter does not restrict the shard key" : "";
    print("goes to", count + String.join(", ", shards) + why);
    String routers =
        route.routers().stream()
            .map(router -> router.getHost() + ":" + router.getPort())
            .collect(Collectors.joining(", "));
    print(
        "by way of",
        "%s (%s)"
            .formatted(routers.isEmpty() ? "the nearest mongos" : routers, route.decision().tag()));
  }

  private void print(String name, String value) {
    out().printf("%-12s%s%n", name, value);
  }
}
