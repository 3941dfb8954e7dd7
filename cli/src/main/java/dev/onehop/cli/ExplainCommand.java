package dev.onehop.cli;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.cli.cluster.ClusterMetadata;
import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.InconsistentRoutingTableException;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.TargetExplanation;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.json.JsonParseException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code onehop explain}. */
@Command(
    name = "explain",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    header = "Show which shards a filter is routed to, and why.",
    description = {
      "",
      "Reads the routing table of a collection through a mongos of any sharded cluster and shows"
          + " which chunks and shards a query with this filter must touch, what decided it, and"
          + " which mongos stand beside these shards. Reads the config database only.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  onehop explain --url mongodb://127.0.0.1:27017 ycsb.usertable '{_id: \"user42\"}'",
      "  onehop explain --url mongodb://host shop.orders '{customer: {$in: [1, 2]}}'"
    })
final class ExplainCommand implements Callable<Integer> {

  /** More would scroll away what matters. */
  private static final int MAX_CHUNKS = 20;

  @Spec private CommandSpec spec;

  @Option(
      names = "--url",
      required = true,
      paramLabel = "URL",
      description = "Connection string of a mongos.")
  private String url;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      converter = DurationConverter.class,
      defaultValue = "10s",
      description = "How long to wait for the cluster. Default: ${DEFAULT-VALUE}.")
  private Duration timeout;

  @Parameters(index = "0", paramLabel = "NAMESPACE", description = "database.collection")
  private String namespace;

  @Parameters(index = "1", paramLabel = "FILTER-JSON", description = "The filter of a find.")
  private String filterJson;

  @Override
  public Integer call() {
    if (namespace.indexOf('.') < 1 || namespace.endsWith(".")) {
      throw Failure.usage("'" + namespace + "' is no namespace; write database.collection");
    }
    BsonDocument filter = filter(filterJson);
    ConnectionString connection = connection(url);
    String hosts = String.join(",", connection.getHosts());
    try (MongoClient client = MongoClients.create(settings(connection))) {
      requireRouter(client, hosts);
      explain(new ClusterMetadata(client), filter);
    } catch (MongoTimeoutException e) {
      throw Failure.run("cannot reach " + hosts + " within " + timeout.toSeconds() + " s", e);
    } catch (MongoSecurityException e) {
      throw Failure.run("cannot authenticate at " + hosts, e);
    } catch (MongoCommandException e) {
      throw Failure.run(hosts + " refuses: " + e.getErrorMessage(), e);
    } catch (MongoException e) {
      throw Failure.run("cannot use " + hosts + ": " + Failure.firstLine(e), e);
    } catch (InconsistentRoutingTableException e) {
      throw Failure.run("chunks changed while they were read; try again", e);
    }
    return 0;
  }

  static BsonDocument filter(String json) {
    try {
      return BsonDocument.parse(json);
    } catch (JsonParseException | IllegalArgumentException e) {
      throw Failure.usage("the filter is no JSON object: " + Failure.firstLine(e));
    }
  }

  private static ConnectionString connection(String url) {
    try {
      return new ConnectionString(url);
    } catch (IllegalArgumentException | MongoException e) {
      throw Failure.usage("--url: " + Failure.firstLine(e));
    }
  }

  private MongoClientSettings settings(ConnectionString connection) {
    long millis = timeout.toMillis();
    return MongoClientSettings.builder()
        .applyConnectionString(connection)
        .applyToClusterSettings(c -> c.serverSelectionTimeout(millis, TimeUnit.MILLISECONDS))
        .applyToSocketSettings(s -> s.connectTimeout(millis, TimeUnit.MILLISECONDS))
        .build();
  }

  private static void requireRouter(MongoClient client, String hosts) {
    BsonDocument hello =
        client
            .getDatabase("admin")
            .runCommand(new BsonDocument("hello", new BsonInt32(1)), BsonDocument.class);
    if (!hello.containsKey("msg") || !hello.getString("msg").getValue().equals("isdbgrid")) {
      throw Failure.run(hosts + " is not a mongos: a routing table needs a sharded cluster", null);
    }
  }

  private void explain(ClusterMetadata metadata, BsonDocument filter) {
    RoutingTable table =
        metadata
            .routingTable(namespace)
            .orElseThrow(
                () -> {
                  String database = namespace.substring(0, namespace.indexOf('.'));
                  return Failure.run("the cluster has no database '" + database + "'", null);
                });
    Target target = Targeter.find(table, filter, TargetingOptions.NONE);
    PrintWriter out = spec.commandLine().getOut();
    print(out, target.explain(MAX_CHUNKS), filter);
    List<String> routers = metadata.routers();
    Map<String, List<String>> members = metadata.shardMembers();
    for (String shard : target.shards()) {
      List<String> hosts = members.getOrDefault(shard, List.of());
      List<String> beside = ClusterMetadata.beside(hosts, routers);
      out.println(
          "  "
              + shard
              + " on "
              + String.join(", ", hosts)
              + (beside.isEmpty()
                  ? "; no mongos on its hosts"
                  : "; mongos beside it: " + String.join(", ", beside)));
    }
    out.flush();
  }

  /** Prints what a target explains. */
  static void print(PrintWriter out, TargetExplanation explanation, BsonDocument filter) {
    out.println("collection  " + explanation.namespace());
    BsonDocument key = explanation.shardKey();
    out.println(
        "shard key   " + (key == null ? "none, the collection is unsharded" : key.toJson()));
    out.println("filter      " + filter.toJson());
    out.println("reason      " + explanation.reason());
    if (key != null) {
      out.println(
          "chunks      " + explanation.touchedChunks() + " of " + explanation.totalChunks());
      for (Chunk chunk : explanation.chunks()) {
        out.println(
            "  [" + chunk.min().toJson() + ", " + chunk.max().toJson() + ")  " + chunk.shard());
      }
      int more = explanation.touchedChunks() - explanation.chunks().size();
      if (more > 0) {
        out.println("  and " + more + " more");
      }
    }
    int count = explanation.shards().size();
    out.println(
        "goes to     "
            + (count == 1 ? "one shard" : count + " shards")
            + (explanation.broadcast() ? ", as nothing in the filter bounds the shard key" : ""));
  }
}
