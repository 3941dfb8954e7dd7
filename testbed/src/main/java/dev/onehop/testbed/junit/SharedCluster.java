package dev.onehop.testbed.junit;

import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.ServerEvidence;
import dev.onehop.testbed.topology.Shard;
import java.util.List;
import org.bson.BsonDocument;

/**
 * The cluster as a test class sees it, see {@link ShardedCluster}. Starts it when it is first asked
 * for more than names. Thread-safe.
 */
public final class SharedCluster {
  private static final SharedTestbed SHARED = new SharedTestbed();

  private final String database;

  private SharedCluster(String database) {
    this.database = database;
  }

  /**
   * What a parameter of a class gets, for methods that can't have one, such as those of Spring's
   * {@code @DynamicPropertySource}.
   *
   * @param testClass a class with {@link ShardedCluster}, the outermost of nested ones
   */
  public static SharedCluster of(Class<?> testClass) {
    return new SharedCluster(testClass.getSimpleName());
  }

  void dropDatabases() {
    SHARED.dropDatabases(database);
  }

  /** The class's database: its simple name. */
  public String database() {
    return database;
  }

  /**
   * Another database of the class, dropped with the first.
   *
   * @param suffix tells it from others
   */
  public String database(String suffix) {
    return database + "_" + suffix;
  }

  /** A collection of the class's database, as {@code database.collection}. */
  public String namespace(String collection) {
    return database + "." + collection;
  }

  /** Where an application connects to: the first shard's router. Without options. */
  public String url() {
    return testbed().url();
  }

  /** The shards' names, in the order in which collections are spread over them. */
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

  /**
   * What the servers say about a collection of the class's database.
   *
   * @see Testbed#evidence
   */
  public ServerEvidence evidence(String collection) {
    return testbed().evidence(namespace(collection));
  }

  /** The running cluster. Other classes use it, too: it must not be closed. */
  public Testbed testbed() {
    return SHARED.get();
  }
}
