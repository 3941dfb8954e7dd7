package dev.onehop.it.unified;

import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import dev.onehop.it.clients.Mode;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/** The servers that tests run on. */
interface Deployment extends AutoCloseable {
  /**
   * The name of this kind of servers in the requirements of tests and in the lists of expected
   * failures.
   */
  String topology();

  /**
   * A connection string.
   *
   * @param several whether the string has all mongoses, not only one
   * @param options further options, as {@code name=value}
   */
  String uri(boolean several, List<String> options);

  /** The client of the test runner. */
  MongoClient internal();

  /**
   * Empties collections, or drops and creates them, and fills them again.
   *
   * @param sharded whether the collections are sharded, if possible
   */
  void prepare(BsonArray initialData, boolean sharded);

  /** The cluster time after the last {@link #prepare}. */
  @Nullable BsonDocument clusterTime();

  /** The reason why a test cannot run on these servers in a mode; empty if it can run. */
  String unsupportedReason(SpecificationTest test, Mode mode);

  /**
   * Sets a fail point until {@link #reset}.
   *
   * @param server the server; null for the server to which a read from the primary goes
   */
  void failPoint(@Nullable ServerAddress server, BsonDocument command);

  /** Turns fail points off, and ends open transactions of a test. */
  void reset();

  @Override
  void close();
}
