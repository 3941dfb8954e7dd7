package dev.onehop.testbed.standin.command;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.CommandFields;
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
 * @param skip the number of documents to skip; 0 for none
 * @param limit the largest number of documents to count; 0 for no limit
 */
record CountPipeline(List<BsonDocument> matches, long skip, long limit) {
  private static final int SKIP_FAULT = 5107200;
  private static final int LIMIT_FAULT = 5107201;
  private static final BsonDocument SUM =
      new BsonDocument(
          "$group",
          new BsonDocument("_id", new BsonInt32(1))
              .append("n", new BsonDocument("$sum", new BsonInt32(1))));

  /** Parses a pipeline. Returns null if the pipeline has other stages. */
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
      skip = whole(pipeline.get(at++), "$skip", SKIP_FAULT);
    }
    long limit = 0;
    if (at < end && pipeline.get(at).isNumber("$limit")) {
      limit = whole(pipeline.get(at++), "$limit", LIMIT_FAULT);
      if (limit == 0) {
        throw new CommandFailure(15958, "Location15958", "the limit must be positive");
      }
    }
    return at == end ? new CountPipeline(matches, skip, limit) : null;
  }

  /**
   * Returns the number in a stage. Like a server, this method accepts only whole, non-negative
   * numbers.
   */
  private static long whole(BsonDocument stage, String name, int fault) {
    long number = CommandFields.number(stage, name);
    boolean isWhole = stage.getNumber(name).doubleValue() == number;
    if (isWhole && number >= 0) {
      return number;
    }
    throw new CommandFailure(
        fault,
        "Location" + fault,
        "invalid argument to %s stage: Expected %s in: %s: %s"
            .formatted(
                name,
                isWhole ? "a non-negative number" : "an integer",
                name,
                isWhole ? number : stage.getNumber(name).doubleValue()));
  }

  /**
   * Returns the pipeline for each of several shards. It has no skip: the router subtracts the skip
   * from the sum.
   */
  BsonArray perShard() {
    BsonArray stages = new BsonArray(matches);
    if (limit > 0) {
      stages.add(new BsonDocument("$limit", new BsonInt64(Reads.sum(limit, skip))));
    }
    stages.add(SUM);
    return stages;
  }

  /**
   * Returns the pipeline's result: one document with the count, or no document if the count is 0.
   */
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
