package dev.onehop.jmh.bulk;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import reactor.core.publisher.Mono;

/**
 * Measures bulk inserts. In each bulk, a run of consecutive documents belongs to one shard, and the
 * next run belongs to another shard. The program prints the time of a plain client, the time of a
 * routed client, and their ratio. It measures several lengths of runs and several round trips to
 * the servers. Each time is the median of several bulks. The clients insert in turn.
 *
 * <pre>java -cp jmh/target/benchmarks.jar dev.onehop.jmh.bulk.BulkRuns</pre>
 */
public final class BulkRuns {
  private static final String TOPOLOGY =
      """
      name: bulk-runs
      regions: [app, mid, far]
      roundTrips: {app <-> app: 0, mid <-> mid: 1, far <-> far: 1,
        app <-> mid: 10, app <-> far: 40, mid <-> far: 45}
      hosts:
        app1: {region: app, address: 127.66.1.1}
        mid1: {region: mid, address: 127.66.2.1}
        mid2: {region: mid, address: 127.66.2.2}
        far1: {region: far, address: 127.66.3.1}
        far2: {region: far, address: 127.66.3.2}
      client: app1
      configServers: [app1]
      shards: {a: [mid1], b: [mid2], c: [far1], d: [far2]}
      mongos: [app1, mid1, mid2, far1, far2]
      """;

  private static final int DOCUMENTS = 150;
  private static final int REPEATED = 5;

  /** The ids of shard n start at n times this number. */
  private static final int RANGE = 100_000_000;

  /**
   * A case to measure.
   *
   * @param name the places of the servers, for the printed table
   * @param mongoses the addresses of the mongoses in the URI
   * @param firstShard the number of the first of the two shards that own the documents
   */
  private record Way(String name, List<String> mongoses, int firstShard) {}

  private static final List<Way> WAYS =
      List.of(
          new Way("mongoses and shards 10 ms away", List.of("127.66.2.1", "127.66.2.2"), 0),
          new Way("mongoses and shards 40 ms away", List.of("127.66.3.1", "127.66.3.2"), 2),
          new Way("mongos at client, shards 10 ms away", List.of("127.66.1.1"), 0),
          new Way("mongos at client, shards 40 ms away", List.of("127.66.1.1"), 2),
          new Way("mongos at client, shards 10/40 ms away", List.of("127.66.1.1"), 1));

  private int next;

  private BulkRuns() {}

  /** Takes no arguments. */
  public static void main(String[] args) {
    try (Testbed testbed =
        Testbed.builder(Topology.parse("bulk-runs.yaml", TOPOLOGY)).longRun(true).start()) {
      testbed.shardCollection(
          "bench.runs",
          new BsonDocument("_id", new BsonInt32(1)),
          List.of(bound(1), bound(2), bound(3)));
      System.out.printf(
          "%d documents per bulk, %s%n%-40s %-10s %4s %10s %10s %6s%n",
          DOCUMENTS, testbed.server(), "", "", "run", "plain ms", "routed ms", "ratio");
      BulkRuns bench = new BulkRuns();
      for (Way way : WAYS) {
        bench.compare(way);
      }
    }
  }

  private static BsonDocument bound(int shard) {
    return new BsonDocument("_id", new BsonInt32(shard * RANGE));
  }

  private void compare(Way way) {
    String uri = "mongodb://" + String.join(",", way.mongoses()) + "/";
    try (MongoClient plain = MongoClients.create(uri);
        MongoClient routed = OneHop.builder(uri).client(MongoClient.class)) {
      MongoCollection<Document> plainly = plain.getDatabase("bench").getCollection("runs");
      MongoCollection<Document> byShard = routed.getDatabase("bench").getCollection("runs");
      for (boolean ordered : new boolean[] {true, false}) {
        for (int run : new int[] {1, 5, 25, 75, 150}) {
          List<Double> plainTimes = new ArrayList<>();
          List<Double> routedTimes = new ArrayList<>();
          Map<MongoCollection<Document>, List<Double>> taken =
              Map.of(plainly, plainTimes, byShard, routedTimes);
          // The first pass does not count: it opens connections and loads the routing table.
          for (int i = 0; i <= REPEATED; i++) {
            taken.forEach((where, times) -> times.add(millis(where, way, run, ordered)));
          }
          double usual = median(plainTimes);
          double ours = median(routedTimes);
          System.out.printf(
              "%-40s %-10s %4d %10.1f %10.1f %6.2f%n",
              way.name(), ordered ? "ordered" : "unordered", run, usual, ours, ours / usual);
        }
      }
    }
  }

  private static double median(List<Double> times) {
    double[] sorted =
        times.subList(1, times.size()).stream().mapToDouble(each -> each).sorted().toArray();
    return Arrays.stream(sorted).skip(sorted.length / 2).findFirst().orElseThrow();
  }

  private double millis(MongoCollection<Document> where, Way way, int runLength, boolean ordered) {
    List<InsertOneModel<Document>> models = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      int shard = way.firstShard() + i / runLength % 2;
      models.add(new InsertOneModel<>(new Document("_id", shard * RANGE + next++)));
    }
    long began = System.nanoTime();
    BulkWriteResult result =
        Mono.from(where.bulkWrite(models, new BulkWriteOptions().ordered(ordered))).block();
    double took = (System.nanoTime() - began) / 1e6;
    if (result == null || result.getInsertedCount() != DOCUMENTS) {
      throw new IllegalStateException("not all documents were inserted: " + result);
    }
    return took;
  }
}
