package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Indexes;
import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.bson.SortableKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.bson.BsonDbPointer;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.Test;

/**
 * DBPointers whose namespaces contain NUL characters sort and hash as in an index. The chunks of a
 * shard key have the order of an index.
 */
@SharedReplicaSet
class DbPointerIT {
  private static final List<String> NAMESPACES =
      List.of(
          "", "\0", "\0\0", "\0a", "a", "a\0", "a\0\0", "a\0b", "a\0zz", "b", "ab", "b\0", "é\0");
  private static final List<ObjectId> IDS =
      List.of(new ObjectId(new byte[12]), new ObjectId("7f0000000000000000000000"));

  @Test
  void sortAndHashLikeServerIndex(RealMongod mongod) {
    try (MongoClient client = MongoClients.create(mongod.url())) {
      MongoCollection<BsonDocument> collection =
          client.getDatabase("it").getCollection("pointers", BsonDocument.class);
      collection.createIndex(Indexes.ascending("k"));
      collection.createIndex(Indexes.hashed("k"));
      int id = 0;
      for (String namespace : NAMESPACES) {
        for (ObjectId pointed : IDS) {
          collection.insertOne(
              new BsonDocument("_id", new BsonInt32(id++))
                  .append("k", new BsonDbPointer(namespace, pointed)));
        }
      }

      List<BsonDocument> byIndex =
          collection.find().hint(Indexes.ascending("k")).into(new ArrayList<>());
      // Equal values are in the index in the order of their insertion, which is the order of the
      // _id.
      List<BsonDocument> byKey = new ArrayList<>(byIndex);
      byKey.sort(
          Comparator.<BsonDocument, byte[]>comparing(
                  document -> SortableKey.encode(document.get("k")), Arrays::compareUnsigned)
              .thenComparing(document -> document.getInt32("_id")));

      assertThat(byIndex).hasSize(id);
      assertThat(byKey).isEqualTo(byIndex);
      for (BsonDocument document : byIndex) {
        BsonDocument key =
            collection
                .find(new BsonDocument("_id", document.get("_id")))
                .hint(Indexes.hashed("k"))
                .returnKey(true)
                .first();
        assertThat(key.getInt64("k").getValue())
            .as("the hash of %s", document)
            .isEqualTo(HashedKey.hash(document.get("k")));
      }
    }
  }
}
