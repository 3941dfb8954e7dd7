package dev.onehop.routing.internal.direct;

import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.jspecify.annotations.Nullable;

/**
 * The pipeline that drivers send for countDocuments: matches, a skip, a limit and a sum.
 *
 * @param matches the {@code $match} stages
 * @param skip 0 for none
 * @param limit 0 for none
 */
record CountPipeline(List<BsonDocument> matches, long skip, long limit) {
  private static final BsonDocument SUM =
      new BsonDocument(
          "$group",
          new BsonDocument("_id", new BsonInt32(1))
              .append("n", new BsonDocument("$sum", new BsonInt32(1))));

  /** Reads a pipeline; null if it is another one. */
  static @Nullable CountPipeline of(List<BsonDocument> pipeline) {
    int end = pipeline.size() - 1;
    if (end < 0 || !pipeline.get(end).equals(SUM)) {
      return null;
    }
    int at = 0;
    while (at < end && pipeline.get(at).containsKey("$match")) {
      at++;
    }
    List<BsonDocument> matches = pipeline.subList(0, at);
    long skip = 0;
    if (at < end && pipeline.get(at).isNumber("$skip")) {
      skip = pipeline.get(at++).getNumber("$skip").longValue();
    }
    long limit = 0;
    if (at < end && pipeline.get(at).isNumber("$limit")) {
      limit = pipeline.get(at++).getNumber("$limit").longValue();
    }
    return at == end ? new CountPipeline(matches, skip, limit) : null;
  }

  /** What each of several shards counts: none of them can know what the others skip. */
  BsonArray perShard() {
    BsonArray stages = new BsonArray(matches);
    if (limit > 0) {
      stages.add(new BsonDocument("$limit", new BsonInt64(Math.addExact(skip, limit))));
    }
    stages.add(SUM);
    return stages;
  }

  /** The one document of the answer, none if nothing is counted. */
  List<BsonDocument> sum(List<BsonDocument> counts) {
    long sum = 0;
    for (BsonDocument each : counts) {
      sum += each.getNumber("n").longValue();
    }
    sum -= skip;
    if (sum <= 0) {
      return List.of();
    }
    long n = limit > 0 ? Math.min(sum, limit) : sum;
    return List.of(new BsonDocument("_id", new BsonInt32(1)).append("n", new BsonInt64(n)));
  }
}
