package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteResult;
import dev.onehop.ycsb.InsertBatch.LostDocumentsException;
import java.util.List;
import java.util.Set;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class InsertBatchTest {
  private final InMemoryStore store = new InMemoryStore();
  private final InsertBatch batch = new InsertBatch(store, 3, false);

  @Test
  void fullBatchIsSentImmediately() {
    assertThat(batch.add("t", Documents.withKey("a"))).isFalse();
    assertThat(batch.add("t", Documents.withKey("b"))).isFalse();
    assertThat(store.bulkSizes).isEmpty();

    assertThat(batch.add("t", Documents.withKey("c"))).isTrue();

    assertThat(store.bulkSizes).containsExactly(3);
    assertThat(store.of("t")).containsOnlyKeys("a", "b", "c");
    assertThat(batch.isEmpty()).isTrue();
  }

  @Test
  void flushSendsPendingDocumentsOnce() {
    batch.add("t", Documents.withKey("a"));

    batch.flush();
    batch.flush();

    assertThat(store.bulkSizes).containsExactly(1);
  }

  @Test
  void newCollectionStartsNewBatch() {
    batch.add("t", Documents.withKey("a"));
    batch.add("other", Documents.withKey("b"));
    batch.flush();

    assertThat(store.of("t")).containsOnlyKeys("a");
    assertThat(store.of("other")).containsOnlyKeys("b");
  }

  @Test
  void upsertReplacesExistingDocuments() {
    store.insert("t", Documents.withKey("a").append("old", BsonBoolean.TRUE));
    InsertBatch upserting = new InsertBatch(store, 2, true);

    upserting.add("t", Documents.withKey("a"));
    upserting.add("t", Documents.withKey("b"));

    assertThat(store.of("t").get("a")).isEqualTo(Documents.withKey("a"));
    assertThat(store.of("t")).containsOnlyKeys("a", "b");
  }

  @Test
  void failedBatchLosesAllDocuments() {
    batch.add("t", Documents.withKey("a"));
    batch.add("t", Documents.withKey("b"));
    MongoTimeoutException failure = new MongoTimeoutException("no server");
    store.failure = failure;

    LostDocumentsException lost =
        catchThrowableOfType(
            LostDocumentsException.class, () -> batch.add("t", Documents.withKey("c")));

    assertThat(lost.documents()).isEqualTo(3);
    assertThat(lost.getCause()).isSameAs(failure);
    assertThat(batch.isEmpty()).isTrue();
  }

  @Test
  void onlyRefusedDocumentsAreLost() {
    batch.add("t", Documents.withKey("a"));
    batch.add("t", Documents.withKey("b"));
    store.failure =
        new MongoBulkWriteException(
            BulkWriteResult.acknowledged(2, 0, 0, 0, List.of(), List.of()),
            List.of(new BulkWriteError(11000, "duplicate key", new BsonDocument(), 1)),
            null,
            new ServerAddress(),
            Set.of());

    LostDocumentsException lost =
        catchThrowableOfType(
            LostDocumentsException.class, () -> batch.add("t", Documents.withKey("c")));

    assertThat(lost.documents()).isEqualTo(1);
  }
}
