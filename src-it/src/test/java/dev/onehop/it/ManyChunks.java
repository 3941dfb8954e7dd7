package dev.onehop.it;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.InsertManyOptions;
import dev.onehop.testbed.Testbed;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;

/**
 * Writes the metadata of a collection with any number of chunks to a testbed's config server. The
 * shards do not have the collection. Clients can thus load its routing table, but cannot read or
 * write its documents.
 */
final class ManyChunks {
  private static final int BATCH = 10_000;
  private static final BsonTimestamp CREATED = new BsonTimestamp(1_700_000_000, 1);

  private final Testbed testbed;

  ManyChunks(Testbed testbed) {
    this.testbed = testbed;
  }

  /** The lower bound of a chunk, in 24 characters. The first chunk begins at MinKey instead. */
  static String bound(int chunk) {
    return "customer%016d".formatted(chunk);
  }

  /** The owner of a chunk. */
  String shardOf(int chunk) {
    List<String> shards = testbed.topology().shards().stream().map(shard -> shard.name()).toList();
    return shards.get(chunk % shards.size());
  }

  void create(String namespace, int chunks) {
    BsonBinary uuid = new BsonBinary(UUID.randomUUID());
    String address = testbed.configServers().replaceFirst(".*/", "").replaceFirst(",.*", "");
    try (MongoClient client =
        MongoClients.create("mongodb://" + address + "/?directConnection=true")) {
      MongoDatabase config =
          client.getDatabase("config").withWriteConcern(WriteConcern.W1.withJournal(false));
      MongoCollection<BsonDocument> written = config.getCollection("chunks", BsonDocument.class);
      List<BsonDocument> batch = new ArrayList<>();
      for (int i = 0; i < chunks; i++) {
        batch.add(chunk(uuid, i, chunks));
        if (batch.size() == BATCH || i == chunks - 1) {
          written.insertMany(batch, new InsertManyOptions().ordered(false));
          batch.clear();
        }
      }
      config
          .getCollection("collections", BsonDocument.class)
          .withWriteConcern(WriteConcern.MAJORITY)
          .insertOne(
              new BsonDocument("_id", new BsonString(namespace))
                  .append("lastmodEpoch", new BsonObjectId())
                  .append("lastmod", new BsonDateTime(0))
                  .append("timestamp", CREATED)
                  .append("uuid", uuid)
                  .append("key", new BsonDocument("_id", new BsonInt32(1)))
                  .append("unique", BsonBoolean.FALSE));
    }
  }

  private BsonDocument chunk(BsonBinary uuid, int i, int chunks) {
    BsonValue min = i == 0 ? new BsonMinKey() : new BsonString(bound(i));
    BsonValue max = i == chunks - 1 ? new BsonMaxKey() : new BsonString(bound(i + 1));
    BsonString shard = new BsonString(shardOf(i));
    return new BsonDocument("_id", new BsonObjectId())
        .append("uuid", uuid)
        .append("min", new BsonDocument("_id", min))
        .append("max", new BsonDocument("_id", max))
        .append("shard", shard)
        .append("lastmod", new BsonTimestamp(1 + i / 1_000, i % 1_000))
        .append(
            "history",
            new BsonArray(List.of(new BsonDocument("validAfter", CREATED).append("shard", shard))));
  }
}
