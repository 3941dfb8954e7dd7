package dev.onehop.jmh.streams;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.internal.merge.Cluster;
import dev.onehop.streams.internal.merge.ShardStream;
import dev.onehop.streams.internal.token.Tokens;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import reactor.core.publisher.Mono;

/** A cluster without servers. Its shards reply at once and have a fixed list of events. */
final class StubShards implements Cluster {
  private static final BsonDocument END =
      new BsonDocument("_data", new BsonString(Tokens.highWater(StubEvents.end())));

  private final Map<String, List<RawBsonDocument>> events = new TreeMap<>();
  private final int batch;

  StubShards(List<List<RawBsonDocument>> ofShards, int batch) {
    for (List<RawBsonDocument> of : ofShards) {
      events.put("shard" + events.size(), of);
    }
    this.batch = batch;
  }

  @Override
  public Mono<Opening> open() {
    BsonTimestamp end = StubEvents.end();
    return Mono.just(
        new Opening(
            events.keySet(),
            new Placement(end, end, events.keySet(), "never another"),
            Checkpoint.before(new BsonTimestamp(1, 1)),
            false));
  }

  @Override
  public Mono<Placement> placement(boolean awaited) {
    return Mono.never();
  }

  @Override
  public BsonTimestamp now() {
    return StubEvents.end();
  }

  @Override
  public ShardStream stream(String shard) {
    return new Backlog(events.getOrDefault(shard, List.of()));
  }

  @Override
  public void close() {}

  private final class Backlog implements ShardStream {
    private final List<RawBsonDocument> of;
    private int next;

    Backlog(List<RawBsonDocument> of) {
      this.of = of;
    }

    @Override
    public Mono<Batch> open(Place place, int batchSize) {
      return next(Duration.ZERO);
    }

    @Override
    public Mono<Batch> next(Duration wait) {
      if (next > of.size()) {
        return Mono.never();
      }
      int end = Math.min(of.size(), next + batch);
      List<RawBsonDocument> given = of.subList(next, end);
      boolean last = end == of.size();
      next = last ? end + 1 : end;
      return Mono.just(new Batch(given, last ? END : null, false));
    }

    @Override
    public Mono<Large> large(Place place) {
      return Mono.never();
    }

    @Override
    public Mono<BsonTimestamp> oldest() {
      return Mono.never();
    }

    @Override
    public Mono<BsonTimestamp> oplogBegin() {
      return Mono.never();
    }

    @Override
    public Mono<Void> advance() {
      return Mono.empty();
    }

    @Override
    public Mono<Void> close() {
      return Mono.empty();
    }
  }
}
