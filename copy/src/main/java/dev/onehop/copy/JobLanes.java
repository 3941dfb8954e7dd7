package dev.onehop.copy;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.internal.state.Job;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonObjectId;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The lanes of a job. A lane is a sequence of writes of copied documents, one after another. After
 * this process has raised a lane to the process's term, late writes of earlier processes in the
 * lane fail.
 */
record JobLanes(ClusterEnd destination, Job job) {
  /**
   * Raises all lanes of one kind, even lanes that only earlier processes of the job have used.
   * Returns the first {@code count} lanes.
   *
   * @param count the number of lanes to return
   * @param kind empty for the lanes of the full phase, or {@link LateSeries#LANES}; a process
   *     raises each kind once
   */
  List<Fence.Lane> raise(int count, String kind) throws InterruptedException {
    int all = Math.max(count, known());
    job.set(new BsonDocument("lanes", new BsonInt32(all)));
    Fence fence = fence(job.incarnation(), kind, renewal());
    List<Fence.Lane> raised =
        Waits.one(
            Flux.range(0, all)
                .flatMapSequential(number -> fence.raise(number, job.term().getValue()))
                .collectList());
    raised.stream().skip(count).forEach(Fence.Lane::close);
    return raised.subList(0, count);
  }

  private int known() {
    return job.get("lanes") instanceof BsonInt32 number ? number.getValue() : 0;
  }

  private Mono<Void> renewal() {
    return Mono.<Void>fromCallable(
            () -> {
              job.renew();
              return null;
            })
        .subscribeOn(Schedulers.boundedElastic());
  }

  private Fence fence(BsonObjectId incarnation, String kind, Mono<Void> stillOwner) {
    return new Fence(
        destination.client(),
        destination.database(ClusterCopy.STATE_DATABASE),
        incarnation.getValue().toHexString() + kind,
        stillOwner);
  }

  /** Makes late writes of an earlier job of this name fail. */
  void shutOut(BsonObjectId earlier) throws InterruptedException {
    for (String kind : List.of("", LateSeries.LANES)) {
      Waits.first(fence(earlier, kind, Mono.empty()).close(known()));
    }
  }
}
