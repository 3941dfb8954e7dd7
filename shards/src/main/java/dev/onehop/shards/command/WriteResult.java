package dev.onehop.shards.command;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** The answer to a write command, put together from shards' answers. Not thread-safe. */
public final class WriteResult {
  private int n;
  private int modified;
  private boolean countsModified;
  private final List<BsonDocument> upserted = new ArrayList<>();
  // One for a statement, also if several shards have found fault with it.
  private final SortedMap<Integer, BsonDocument> errors = new TreeMap<>();
  private final List<BsonValue> retried = new ArrayList<>();
  private @Nullable BsonDocument writeConcernError;
  private @Nullable BsonDocument failure;
  private @Nullable BsonDocument lastRefusal;
  private @Nullable BsonDocument clusterTime;
  private @Nullable BsonTimestamp operationTime;

  /**
   * Takes in a shard's answer.
   *
   * @param reply what the shard said
   * @param indexes the batch's index of each statement that the shard was sent
   * @return the batch's indexes that the shard refused as stale, in order; they do not count as
   *     errors
   */
  public List<Integer> add(BsonDocument reply, List<Integer> indexes) {
    observeTimes(reply);
    if (!ErrorCodes.ok(reply)) {
      failure = reply;
      return List.of();
    }
    n += reply.getNumber("n", new BsonInt32(0)).intValue();
    if (reply.containsKey("nModified")) {
      countsModified = true;
      modified += reply.getNumber("nModified").intValue();
    }
    for (BsonValue each : reply.getArray("upserted", new BsonArray())) {
      upserted.add(reindexed(each.asDocument(), indexes));
    }
    retried.addAll(reply.getArray("retriedStmtIds", new BsonArray()));
    if (reply.containsKey("writeConcernError") && writeConcernError == null) {
      writeConcernError = reply.getDocument("writeConcernError");
    }
    List<Integer> stale = new ArrayList<>();
    for (BsonValue each : reply.getArray("writeErrors", new BsonArray())) {
      BsonDocument error = reindexed(each.asDocument(), indexes);
      if (ErrorCodes.isStale(ErrorCodes.of(error))) {
        stale.add(error.getInt32("index").getValue());
        if (lastRefusal == null || !error.getString("errmsg").getValue().isEmpty()) {
          lastRefusal = error;
        }
      } else {
        errors.putIfAbsent(error.getInt32("index").getValue(), error);
      }
    }
    return stale;
  }

  /** Takes in that a statement failed. */
  public void addError(int index, CommandFailure why) {
    errors.putIfAbsent(
        index,
        new BsonDocument("index", new BsonInt32(index))
            .append("code", new BsonInt32(why.code()))
            .append("errmsg", new BsonString(String.valueOf(why.getMessage()))));
  }

  /** Whether no statement has been carried out, nor has failed. */
  public boolean isEmpty() {
    return n == 0 && errors.isEmpty() && failure == null;
  }

  /** Whether nothing more may be sent. */
  public boolean isFinal(boolean ordered) {
    return failure != null || (ordered && !errors.isEmpty());
  }

  /** The refusal that {@link #add} met last. */
  public BsonDocument lastRefusal() {
    return lastRefusal == null ? new BsonDocument() : lastRefusal;
  }

  /** Whether a shard's answer settles its one statement: it found its document, or failed. */
  public static boolean settles(BsonDocument reply) {
    return !ErrorCodes.ok(reply)
        || reply.containsKey("writeErrors")
        || reply.getNumber("n", new BsonInt32(0)).intValue() > 0;
  }

  public BsonDocument toReply() {
    if (failure != null && n == 0 && errors.isEmpty()) {
      return failure;
    }
    BsonDocument reply = new BsonDocument("n", new BsonInt32(n));
    if (countsModified) {
      reply.append("nModified", new BsonInt32(modified));
    }
    if (!upserted.isEmpty()) {
      reply.append("upserted", byIndex(upserted));
    }
    if (!errors.isEmpty()) {
      reply.append("writeErrors", new BsonArray(List.copyOf(errors.values())));
    }
    if (!retried.isEmpty()) {
      reply.append("retriedStmtIds", new BsonArray(retried));
    }
    if (failure != null) {
      // Some statements were applied before a shard failed as a whole: as a server would say it.
      failure.forEach(reply::append);
    } else {
      if (writeConcernError != null) {
        reply.append("writeConcernError", writeConcernError);
      }
      reply.append("ok", new BsonDouble(1));
    }
    if (clusterTime != null) {
      reply.append("$clusterTime", clusterTime);
    }
    if (operationTime != null) {
      reply.append("operationTime", operationTime);
    }
    return reply;
  }

  private void observeTimes(BsonDocument reply) {
    if (reply.get("$clusterTime") instanceof BsonDocument told
        && (clusterTime == null
            || ClusterClock.time(clusterTime).compareTo(ClusterClock.time(told)) < 0)) {
      clusterTime = told;
    }
    if (reply.get("operationTime") instanceof BsonTimestamp told
        && (operationTime == null || operationTime.compareTo(told) < 0)) {
      operationTime = told;
    }
  }

  private static BsonDocument reindexed(BsonDocument element, List<Integer> indexes) {
    BsonDocument copy = new BsonDocument();
    copy.putAll(element);
    copy.put("index", new BsonInt32(indexes.get(element.getInt32("index").getValue())));
    return copy;
  }

  private static BsonArray byIndex(List<BsonDocument> elements) {
    List<BsonDocument> sorted = new ArrayList<>(elements);
    sorted.sort(Comparator.comparingInt(each -> each.getInt32("index").getValue()));
    return new BsonArray(sorted);
  }
}
