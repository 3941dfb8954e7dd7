package dev.onehop.measure.copying;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** {@link CopyTool#ONE}. */
final class SingleMongosCopy implements CopyToolRun {
  private final MongoClient source;
  private final MongoClient destination;
  private @Nullable SingleMongosApplier applier;

  SingleMongosCopy(ToolTask task) {
    this.source = MongoClients.create(task.from());
    this.destination = MongoClients.create(task.to());
  }

  @Override
  public void full(List<String> collections) throws InterruptedException, ExecutionException {
    new SingleMongosReader(source, destination).run(Workload.DATABASE, CopyTool.ONE.label(), collections);
  }

  @Override
  public void follow(BsonTimestamp start) {
    applier =
        SingleMongosApplier.open(
            source, destination, Workload.DATABASE, CopyTool.ONE.label(), Workload.collection(0), start);
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
