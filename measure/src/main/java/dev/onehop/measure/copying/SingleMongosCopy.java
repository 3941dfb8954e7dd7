package dev.onehop.measure.copying;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** {@link CopyTool#DRIVER}: a copy that an application can program with the plain driver. */
final class SingleMongosCopy implements CopyToolRun {
  private final MongoClient source;
  private final MongoClient destination;
  private @Nullable SingleMongosApplier applier;

  SingleMongosCopy(String from, String to) {
    this.source = MongoClients.create(from);
    this.destination = MongoClients.create(to);
  }

  @Override
  public void full(List<String> collections) throws InterruptedException, ExecutionException {
    new SingleMongosReader(source, destination)
        .run(Workload.DATABASE, CopyTool.DRIVER.database(), collections);
  }

  @Override
  public void follow(BsonTimestamp since) {
    applier =
        SingleMongosApplier.open(
            source,
            destination,
            Workload.DATABASE,
            CopyTool.DRIVER.database(),
            Workload.collection(0),
            since);
  }

  @Override
  public long applied() {
    return Objects.requireNonNull(applier).applied();
  }

  @Override
  public void unfollow() {
    Objects.requireNonNull(applier).close();
  }

  @Override
  public void close() {
    source.close();
    destination.close();
  }
}
