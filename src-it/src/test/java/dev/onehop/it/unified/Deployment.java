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
  /** How requirements name its kind, and the lists of expected failures this. */
  String topology();

  /**
   * A connection string.
   *
   * @param several of all mongoses, not of one
   * @param options more of it, as {@code name=value}
   */
  String uri(boolean several, List<String> options);

  /** The runner's own client. */
  MongoClient internal();

  /**
   * Empties collections, or drops and creates them, and fills them again.
   *
   * @param sharded whether they are sharded, where that is possible
   */
  void prepare(BsonArray initialData, boolean sharded);

  /** The cluster time after the last {@link #prepare}. */
  @Nullable BsonDocument clusterTime();

  /** Why a test can't be carried out here at all in a mode; empty if it can. */
  String cannot(SpecificationTest test, Mode mode);

  /**
   * Sets a fail point until {@link #reset}.
   *
   * @param server where, or null for where a primary read would go
   */
  void failPoint(@Nullable ServerAddress server, BsonDocument command);

  /** Turns fail points off, and ends what transactions a test has left open. */
  void reset();

  @Override
  void close();
}
