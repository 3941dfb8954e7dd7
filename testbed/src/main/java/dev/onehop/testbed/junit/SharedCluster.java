package dev.onehop.testbed.junit;

import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.ServerEvidence;
import dev.onehop.testbed.topology.Shard;
import java.util.List;
import org.bson.BsonDocument;

/**
 * The shared cluster for one test class, see {@link ShardedCluster}. The first method that needs
 * the cluster starts it. Thread-safe.
 */
public final class SharedCluster {
  private static final SharedTestbed SHARED = new SharedTestbed();

  private final String database;

  private SharedCluster(String database) {
    this.database = database;
  }

  /**
   * Returns the cluster of a test class without a method parameter, for example in a method with
   * Spring's {@code @DynamicPropertySource}.
   *
   * @param testClass a class with {@link ShardedCluster}; if classes are nested, the outermost
   *     class
   */
  public static SharedCluster of(Class<?> testClass) {
    return new SharedCluster(testClass.getSimpleName());
  }

  void dropDatabases() {
    SHARED.dropDatabases(database);
  }

  /** The class's database. Its name is the simple name of the class. */
  public String database() {
    return database;
  }

  /**
   * Returns the name of another database of the class. It is dropped together with {@link
   * #database()}.
   *
   * @param suffix the end of the database's name
   */
  public String database(String suffix) {
    return database + "_" + suffix;
  }

  /** The namespace of a collection in the class's database, as {@code database.collection}. */
  public String namespace(String collection) {
    return database + "." + collection;
  }

  /** The URL with which an application connects to the first shard's router, without options. */
  public String url() {
    return testbed().url();
  }

  /**
   * The names of the shards. The chunks of a new collection are placed on the shards in this order.
   */
  public List<String> shards() {
    return testbed().topology().shards().stream().map(Shard::name).toList();
  }

  /**
   * Shards a collection of the class's database.
   *
   * @see Testbed#shardCollection
   */
  public void shardCollection(String collection, BsonDocument key, List<BsonDocument> splitPoints) {
    testbed().shardCollection(namespace(collection), key, splitPoints);
  }

  /**
   * Moves a chunk of a collection of the class's database.
   *
   * @see Testbed#moveRange
   */
  public void moveRange(String collection, BsonDocument min, String toShard) {
    testbed().moveRange(namespace(collection), min, toShard);
  }

  /** Figures that the servers themselves report about a collection of the class's database. */
  public ServerEvidence evidence(String collection) {
    return testbed().evidence(namespace(collection));
  }

  /** The running cluster. Do not close it, because other classes use it, too. */
  public Testbed testbed() {
    return SHARED.get();
  }
}
