package dev.onehop.shards.command;

import static java.util.stream.Collectors.joining;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The reply to a write command, merged from the replies to its parts. Not thread-safe.
 *
 * <p>Source: {@code BatchWriteOp::buildClientResponse} in {@code batch_write_op.cpp} of mongos.
 */
public final class WriteResult {
  private static final int WRITE_CONCERN_FAILED = 64;
  private static final String SEVERAL = "multiple errors reported : ";
  private static final BsonString NO_WRITES_PERFORMED = new BsonString("NoWritesPerformed");
  private static final BsonString RETRYABLE_ERROR = new BsonString("RetryableError");
  private static final Set<BsonValue> ALL_OR_NONE = Set.of(NO_WRITES_PERFORMED, RETRYABLE_ERROR);

  private final boolean ordered;
  private final int statements;
  private final boolean retryable;
  private int n;
  private int modified;
  private boolean countsModified;
  private final List<BsonDocument> upserted = new ArrayList<>();
  // By statement index, the first error of each statement. Several shards may return an error for a
  // statement.
  private final SortedMap<Integer, BsonDocument> errors = new TreeMap<>();
  private final List<BsonValue> retried = new ArrayList<>();
  private final List<BsonDocument> writeConcernErrors = new ArrayList<>();
  private final List<Part> parts = new ArrayList<>();
  private @Nullable BsonDocument failure;
  private @Nullable BsonDocument lastRefusal;
  private @Nullable BsonDocument clusterTime;
  private @Nullable BsonTimestamp operationTime;

  private record Part(List<BsonValue> labels, boolean failed, boolean wrote) {}

  /**
   * @param command insert, update or delete
   * @param statements the number of its statements
   */
  public WriteResult(OpMsg command, int statements) {
    // As in mongos, any value but false is true.
    this.ordered = !BsonBoolean.FALSE.equals(command.body().get("ordered"));
    this.statements = statements;
    this.retryable =
        command.body().containsKey("txnNumber") && !command.body().containsKey("autocommit");
  }

  /** One shard's reply to a write with one statement, in the format of mongos. */
  static BsonDocument of(String shard, OpMsg command, BsonDocument reply) {
    if (command.commandName().equals("findAndModify")) {
      return atShard(shard, reply);
    }
    WriteResult result = new WriteResult(command, 1);
    result.add(shard, reply, List.of(0));
    return result.toReply();
  }

  /**
   * Whether a shard's reply reports that the statement would move its document to another shard,
   * which requires a transaction.
   */
  public static boolean movesDocument(BsonDocument reply) {
    return !ErrorCodes.ok(reply)
        && ErrorCodes.of(reply) == ErrorCodes.WOULD_CHANGE_OWNING_SHARD
        && reply.isDocument("postImage");
  }

  /**
   * Like {@link #add(BsonDocument, List)}, but adds the shard's name to its write concern error.
   */
  List<Integer> add(String shard, BsonDocument reply, List<Integer> indexes) {
    return add(atShard(shard, reply), indexes);
  }

  /** A shard's reply with the shard's name in its write concern error, as in mongos. */
  public static BsonDocument atShard(String shard, BsonDocument reply) {
    if (!(reply.get("writeConcernError") instanceof BsonDocument error)) {
      return reply;
    }
    BsonDocument named = new BsonDocument();
    named.putAll(error);
    named.put("errmsg", new BsonString(message(error) + " at " + shard));
    BsonDocument whole = new BsonDocument();
    whole.putAll(reply);
    whole.put("writeConcernError", named);
    return whole;
  }

  /**
   * Adds a reply to a part.
   *
   * @param reply the reply
   * @param indexes for each statement of the part, its index in the batch
   * @return the statements that the shard refused as stale, as indexes in the batch, in order. Such
   *     refusals do not count as errors
   */
  public List<Integer> add(BsonDocument reply, List<Integer> indexes) {
    observeTimes(reply);
    int written = reply.getNumber("n", new BsonInt32(0)).intValue();
    List<BsonValue> labels = reply.getArray("errorLabels", new BsonArray());
    if (!ErrorCodes.ok(reply)) {
      failure = reply;
      parts.add(new Part(labels, true, written > 0));
      return List.of();
    }
    n += written;
    if (reply.containsKey("nModified")) {
      countsModified = true;
      modified += reply.getNumber("nModified").intValue();
    }
    for (BsonValue each : reply.getArray("upserted", new BsonArray())) {
      upserted.add(reindexed(each.asDocument(), indexes));
    }
    retried.addAll(reply.getArray("retriedStmtIds", new BsonArray()));
    if (reply.containsKey("writeConcernError")) {
      writeConcernErrors.add(reply.getDocument("writeConcernError"));
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
    boolean failed =
        reply.containsKey("writeConcernError")
            || stale.size() < reply.getArray("writeErrors", new BsonArray()).size();
    parts.add(new Part(labels, failed, written > 0));
    return stale;
  }

  /** Adds the failure of a statement, or the error of a statement whose outcome is unknown. */
  public void addError(int index, CommandFailure why) {
    parts.add(new Part(List.of(), true, false));
    errors.putIfAbsent(
        index,
        new BsonDocument("index", new BsonInt32(index))
            .append("code", new BsonInt32(why.code()))
            .append("errmsg", new BsonString(String.valueOf(why.getMessage()))));
  }

  /** True if no statement has been executed and none has failed. */
  public boolean isEmpty() {
    return isUnwritten() && failure == null;
  }

  private boolean isUnwritten() {
    return n == 0 && errors.isEmpty();
  }

  /** True if no further statement may be sent. */
  public boolean isFinal(boolean ordered) {
    return failure != null || (ordered && !errors.isEmpty());
  }

  /** The last refusal passed to {@link #add}. */
  public BsonDocument lastRefusal() {
    return lastRefusal == null ? new BsonDocument() : lastRefusal;
  }

  /**
   * Whether no further shard needs to try a statement on one document: this shard has found the
   * document, or has returned an error.
   */
  public static boolean settles(BsonDocument reply) {
    return !ErrorCodes.ok(reply)
        || reply.containsKey("writeErrors")
        || reply.getNumber("n", new BsonInt32(0)).intValue() > 0;
  }

  public BsonDocument toReply() {
    BsonDocument reply = new BsonDocument();
    if (failure == null || !isUnwritten()) {
      appendWritten(reply);
    }
    if (failure != null) {
      // The command failed as a whole on a shard. Like the reply of a single server, this reply
      // also contains the results of the statements that were executed before.
      reply.putAll(failure);
    } else {
      if (!writeConcernErrors.isEmpty()
          && (errors.isEmpty() || (!ordered && errors.size() < statements))) {
        reply.append("writeConcernError", writeConcernError());
      }
      reply.append("ok", new BsonDouble(1));
    }
    BsonArray labels = labels();
    if (labels.isEmpty()) {
      reply.remove("errorLabels");
    } else {
      reply.append("errorLabels", labels);
    }
    if (clusterTime != null) {
      reply.append("$clusterTime", clusterTime);
    }
    if (operationTime != null) {
      reply.append("operationTime", operationTime);
    }
    return reply;
  }

  private void appendWritten(BsonDocument reply) {
    reply.append("n", new BsonInt32(n));
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
  }

  private BsonDocument writeConcernError() {
    BsonDocument first = writeConcernErrors.get(0);
    boolean one = writeConcernErrors.size() == 1;
    return new BsonDocument("code", one ? first.get("code") : new BsonInt32(WRITE_CONCERN_FAILED))
        .append("codeName", new BsonString(one ? codeName(first) : "WriteConcernFailed"))
        .append(
            "errmsg",
            new BsonString(
                one
                    ? message(first)
                    : writeConcernErrors.stream()
                        .map(WriteResult::described)
                        .collect(joining(" :: and :: ", SEVERAL, ""))));
  }

  /**
   * The text of a part's error. If the error already combines the errors of several shards, the
   * text is their list.
   */
  private static String described(BsonDocument error) {
    String message = message(error);
    return message.startsWith(SEVERAL)
        ? message.substring(SEVERAL.length())
        : codeName(error) + ": " + message;
  }

  private static String message(BsonDocument error) {
    return error.getString("errmsg", new BsonString("")).getValue();
  }

  private static String codeName(BsonDocument error) {
    return error
        .getString("codeName", new BsonString("Location" + ErrorCodes.of(error)))
        .getValue();
  }

  /**
   * The labels of the parts' errors. {@code NoWritesPerformed} stays only if every failed part has
   * it and no part has written. {@code RetryableError} stays only if every failed part has it. It
   * is also removed if a part has written and the command has no transaction number, because a
   * retry would execute this part twice. {@code RetryableWriteError} always stays, because it
   * belongs to commands with a transaction number, by which servers recognise executed statements.
   */
  private BsonArray labels() {
    Set<BsonValue> labels = new LinkedHashSet<>();
    parts.forEach(part -> labels.addAll(part.labels()));
    for (Part part : parts) {
      if (part.failed()) {
        labels.removeIf(label -> ALL_OR_NONE.contains(label) && !part.labels().contains(label));
      }
      if (part.wrote()) {
        labels.remove(NO_WRITES_PERFORMED);
      }
      if (part.wrote() && !retryable) {
        labels.remove(RETRYABLE_ERROR);
      }
    }
    return new BsonArray(List.copyOf(labels));
  }

  private void observeTimes(BsonDocument reply) {
    if (reply.get("$clusterTime") instanceof BsonDocument given
        && (clusterTime == null
            || ClusterClock.time(clusterTime).compareTo(ClusterClock.time(given)) < 0)) {
      clusterTime = given;
    }
    if (reply.get("operationTime") instanceof BsonTimestamp given
        && (operationTime == null || operationTime.compareTo(given) < 0)) {
      operationTime = given;
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
