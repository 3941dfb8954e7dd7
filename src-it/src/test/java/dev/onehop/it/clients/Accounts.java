package dev.onehop.it.clients;

import dev.onehop.testbed.Testbed;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;

/** Collections of accounts 0 to 299, a hundred on each of three shards. */
public final class Accounts {
  private static final int PER_SHARD = 100;

  private Accounts() {}

  /** Creates an empty sharded collection for the accounts. */
  public static void shard(Testbed testbed, String namespace) {
    testbed.shardCollection(
        namespace,
        new BsonDocument("_id", new BsonInt32(1)),
        Stream.of(PER_SHARD, 2 * PER_SHARD)
            .map(id -> new BsonDocument("_id", new BsonInt32(id)))
            .toList());
  }

  /** The accounts, with a balance of 100 each. */
  public static List<Document> documents() {
    return IntStream.range(0, 3 * PER_SHARD)
        .mapToObj(id -> new Document("_id", id).append("balance", 100))
        .toList();
  }
}
