package dev.onehop.it.clients;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoClientSettings;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.kotlin.client.coroutine.ClientSession;
import com.mongodb.kotlin.client.coroutine.MongoClient;
import com.mongodb.kotlin.client.coroutine.MongoCollection;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.flow.Flow;
import kotlinx.coroutines.flow.FlowKt;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;

class KotlinIT extends LanguageTests {

  @Override
  Client open(MongoClientSettings settings, String database, String collection) {
    MongoClient client = MongoClient.Factory.create(settings, null);
    return new KotlinClient(
        client, client.getDatabase(database).getCollection(collection, Document.class));
  }

  private record KotlinClient(MongoClient client, MongoCollection<Document> collection)
      implements Client {

    @Override
    public void insertMany(List<Document> documents) {
      run(c -> collection.insertMany(documents, new InsertManyOptions(), c));
    }

    @Override
    public List<Document> find(Bson filter) {
      return all(collection.find(filter, Document.class));
    }

    @Override
    public BulkWriteResult bulkWrite(List<WriteModel<Document>> writes) {
      return run(c -> collection.bulkWrite(writes, new BulkWriteOptions(), c));
    }

    @Override
    public BsonTimestamp transaction(boolean commit, Bson update, Bson... filters) {
      ClientSessionOptions options = ClientSessionOptions.builder().build();
      try (ClientSession session =
          KotlinIT.<ClientSession>run(c -> client.startSession(options, c))) {
        session.startTransaction();
        for (Bson filter : filters) {
          run(c -> collection.updateOne(session, filter, update, new UpdateOptions(), c));
        }
        run(c -> commit ? session.commitTransaction(c) : session.abortTransaction(c));
        return session.getOperationTime();
      }
    }

    @Override
    public List<ChangeStreamDocument<Document>> changes(BsonTimestamp from, int count) {
      return all(
          FlowKt.take(
              collection.watch(List.of(), Document.class).startAtOperationTime(from), count));
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /**
   * Calls a suspending function of Kotlin. In Java, such a function has a continuation as its last
   * parameter.
   */
  private static <T> T run(Function<Continuation<? super T>, Object> function) {
    try {
      return BuildersKt.runBlocking(
          EmptyCoroutineContext.INSTANCE, (scope, continuation) -> function.apply(continuation));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static <T> List<T> all(Flow<T> flow) {
    List<T> elements = new ArrayList<>();
    run(c -> FlowKt.toList(flow, elements, c));
    return elements;
  }
}
