package dev.onehop.streams.internal.shard;

import dev.onehop.streams.internal.token.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The command that opens a change stream.
 *
 * @param database to watch, or whose collection; {@code admin} for the whole cluster
 * @param collection null for all of the database
 * @param options of the stage {@code $changeStream} but for where to begin
 * @param pipeline the stages after it
 * @param batchSize most events in a batch; 0 for as many as the server likes
 */
public record StreamCommand(
    String database,
    @Nullable String collection,
    BsonDocument options,
    List<BsonDocument> pipeline,
    int batchSize) {
  private static final BsonDocument NARROW =
      BsonDocument.parse(
          "{$project: {_id: 1, operationType: 1, ns: 1, documentKey: 1, clusterTime: 1,"
              + " lsid: 1, txnNumber: 1}}");
  private static final BsonDocument SPLIT =
      BsonDocument.parse("{$changeStreamSplitLargeEvent: {}}");

  public StreamCommand {
    pipeline = List.copyOf(pipeline);
  }

  /**
   * The command for a stream that begins after a token, in whatever way the server takes it.
   *
   * @param token the whole token, which the server has to know; without it the stream begins with
   *     the token's cluster time
   * @param most events in a batch, 0 for as asked
   */
  BsonDocument open(String after, @Nullable BsonDocument token, int most) {
    return command(after, token, pipeline, most == 0 ? batchSize : most);
  }

  /** The same for the first event only, without what may be large. */
  BsonDocument narrow(String after, @Nullable BsonDocument token) {
    return command(after, token, and(NARROW), 1);
  }

  /** The same for events in fragments, one at a time, where the server can split them. */
  BsonDocument split(String after, @Nullable BsonDocument token) {
    return command(after, token, and(SPLIT), 1);
  }

  private List<BsonDocument> and(BsonDocument last) {
    List<BsonDocument> stages = new ArrayList<>(pipeline);
    stages.add(last);
    return stages;
  }

  private BsonDocument command(
      String after, @Nullable BsonDocument token, List<BsonDocument> stages, int batch) {
    BsonDocument stage = new BsonDocument();
    stage.putAll(options);
    boolean time = after.equals(Tokens.highWater(Tokens.clusterTime(after)));
    if (token != null && !time) {
      stage.append("startAfter", token);
    } else {
      stage.append("startAtOperationTime", Tokens.clusterTime(after));
    }
    if (isOfCluster()) {
      stage.append("allChangesForCluster", BsonBoolean.TRUE);
    }
    BsonArray all = new BsonArray();
    all.add(new BsonDocument("$changeStream", stage));
    all.addAll(stages);
    BsonValue target = collection == null ? new BsonInt32(1) : new BsonString(collection);
    return new BsonDocument("aggregate", target)
        .append("pipeline", all)
        .append(
            "cursor",
            batch == 0 ? new BsonDocument() : new BsonDocument("batchSize", new BsonInt32(batch)))
        .append("readConcern", new BsonDocument("level", new BsonString("majority")))
        .append("$db", new BsonString(database));
  }

  /** A collection that who may watch may also read; it need not exist. */
  String readable() {
    return collection == null ? "onehop.clock" : collection;
  }

  boolean isOfCluster() {
    return collection == null && database.equals("admin");
  }
}
