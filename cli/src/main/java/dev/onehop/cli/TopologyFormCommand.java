package dev.onehop.cli;

import dev.onehop.cli.bench.Workload;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.Topology;
import dev.onehop.testbed.TopologyException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code onehop topology form}. */
@Command(
    name = "form",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    header = "Make a sharded cluster of servers that are running already.",
    description = {
      "",
      "Initiates the replica sets, adds the shards, creates users where there is access control,"
          + " and shards and pre-splits ycsb.usertable for workloada. Every host of the topology"
          + " has to be reachable under its own name, as in docker/compose.yaml. What is done"
          + " already stays as it is.",
      ""
    })
final class TopologyFormCommand implements Callable<Integer> {

  /** More than one, so that routing tables are real. */
  private static final int CHUNKS_PER_SHARD = 4;

  private static final String COLLECTION = "ycsb.usertable";

  @Spec private CommandSpec spec;

  @Option(
      names = "--topology",
      paramLabel = "NAME|FILE",
      defaultValue = "us-2014",
      description = "Which servers run where. Default: ${DEFAULT-VALUE}.")
  private String topologyName = "us-2014";

  @Option(
      names = "--records",
      paramLabel = "N",
      defaultValue = "10000",
      description = "Documents that will be loaded, to split for. Default: ${DEFAULT-VALUE}.")
  private long records = 10_000;

  @Option(
      names = "--without-routers",
      description = "Config servers and shards only; no mongos is asked or waited for.")
  private boolean withoutRouters;

  @Mixin private ExistingOptions existing = new ExistingOptions();

  @Override
  public Integer call() {
    if (records < 1) {
      throw Failure.usage("--records " + records + ": must be at least 1");
    }
    Topology topology = topology();
    Workload workload =
        Workload.load(Home.path("workloads/workloada"), Map.of()).withRecords(records);
    List<BsonDocument> splitPoints =
        workload.splitPoints(topology.shards().size() * CHUNKS_PER_SHARD).stream()
            .map(id -> new BsonDocument("_id", new BsonString(id)))
            .toList();
    PrintWriter out = spec.commandLine().getOut();
    Testbed.Builder builder =
        Testbed.builder(topology)
            .existing(existing.servers())
            .progress(
                line -> {
                  out.println(line);
                  out.flush();
                });
    try (Testbed testbed = (withoutRouters ? builder.withoutRouters() : builder).start()) {
      testbed.shardCollection(COLLECTION, new BsonDocument("_id", new BsonInt32(1)), splitPoints);
      out.printf(
          "formed: mongod %s, routers: %s %s; %s is split into %d chunks%n",
          testbed.server().mongodVersion(),
          testbed.server().router().label(),
          testbed.server().routerVersion(),
          COLLECTION,
          splitPoints.size() + 1);
      if (!withoutRouters) {
        out.println("URL: " + testbed.url());
      }
      out.flush();
      return 0;
    } catch (TestbedException e) {
      throw Failure.run(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    }
  }

  private Topology topology() {
    try {
      return Topology.resolve(topologyName);
    } catch (TopologyException e) {
      throw Failure.usage(e.getMessage() == null ? e.toString() : e.getMessage());
    }
  }
}
