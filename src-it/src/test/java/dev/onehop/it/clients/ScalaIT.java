package dev.onehop.it.clients;

import com.mongodb.MongoClientSettings;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.reactivestreams.client.ClientSession;
import java.time.Duration;
import java.util.List;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.Tag;
import org.mongodb.scala.MongoClient;
import org.mongodb.scala.MongoCollection;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;

/**
 * The Scala driver runs with the oldest supported driver, because it has no release for the newest.
 */
@Tag("scala")
class ScalaIT extends LanguageTests {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final ClassTag<Document> DOCUMENT = ClassTag.apply(Document.class);

  @Override
  Client open(MongoClientSettings settings, String database, String collection) {
    MongoClient client = MongoClient.apply(settings);
    return new ScalaClient(
        client, client.getDatabase(database).getCollection(collection, null, DOCUMENT));
  }

  private record ScalaClient(MongoClient client, MongoCollection<Document> collection)
      implements Client {

    @Override
    public void insertMany(List<Document> documents) {
      run(collection.insertMany(seq(documents)));
    }

    @Override
    public List<Document> find(Bson filter) {
      return all(collection.find(filter, null, DOCUMENT));
    }

    @Override
    public BulkWriteResult bulkWrite(List<WriteModel<Document>> writes) {
      return run(collection.bulkWrite(seq(writes)));
    }

    @Override
    public BsonTimestamp transaction(boolean commit, Bson update, Bson... filters) {
      try (ClientSession session = run(client.startSession())) {
        session.startTransaction();
        for (Bson filter : filters) {
          run(collection.updateOne(session, filter, update));
        }
        run(commit ? session.commitTransaction() : session.abortTransaction());
        return session.getOperationTime();
      }
    }

    @Override
    public List<ChangeStreamDocument<Document>> changes(BsonTimestamp from, int count) {
      return Flux.from(collection.<Document>watch(null, DOCUMENT).startAtOperationTime(from))
          .take(count)
          .collectList()
          .block(TIMEOUT);
    }

    @Override
    public void close() {
      client.close();
    }
  }

  private static <T> Seq<T> seq(List<? extends T> elements) {
    return CollectionConverters.<T>asScala(List.<T>copyOf(elements)).toSeq();
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }

  private static <T> List<T> all(Publisher<T> operation) {
    return Flux.from(operation).collectList().block(TIMEOUT);
  }
}
