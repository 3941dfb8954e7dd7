package dev.onehop.cli;

import dev.onehop.measure.points.Workload;
import dev.onehop.testbed.Testbed;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/** YCSB's collection, sharded and split for workloada before documents are loaded. */
final class UserTable {
  static final String NAMESPACE = "ycsb.usertable";

  /** The default number of documents. */
  static final long RECORDS = 10_000;

  /** Each shard has several chunks, as in real routing tables. */
  private static final int CHUNKS_PER_SHARD = 4;

  private UserTable() {}

  /** The workload that OneHop ships, with a number of records. */
  static Workload workload(long records) {
    return Workload.load(InstallationFolder.path("workloads/workloada"), Map.of())
        .withRecords(records);
  }

  /**
   * Shards and splits the collection. Completed steps are not repeated.
   *
   * @param records the number of documents for which the collection is split
   * @return the number of chunks
   */
  static int shard(Testbed testbed, long records) {
    List<BsonDocument> splitPoints =
        workload(records)
            .splitPoints(testbed.topology().shards().size() * CHUNKS_PER_SHARD)
            .stream()
            .map(id -> new BsonDocument("_id", new BsonString(id)))
            .toList();
    testbed.shardCollection(NAMESPACE, new BsonDocument("_id", new BsonInt32(1)), splitPoints);
    return splitPoints.size() + 1;
  }
}
