package dev.onehop.copy;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ClusterQueries;
import dev.onehop.copy.internal.cluster.OperationsBehind;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.internal.structure.StructureReader;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * The finished job that a copy back reverses.
 *
 * @param name the name of the job
 * @param job the incarnation of the finished job
 * @param start the cluster time of the finished job's destination at the end of the job: changes
 *     from this time on were not written by the job
 * @param finished a cluster time of the finished job's source; the job has applied all changes
 *     before this time
 */
record Reversal(String name, BsonObjectId job, BsonTimestamp start, BsonTimestamp finished) {
  private static final long LOOK_MILLIS = 100;
  private static final int LOOKS = 50;

  /** A cluster time that is after all past operations of all shards of a cluster. */
  static BsonTimestamp startNow(ClusterEnd cluster) throws InterruptedException {
    return new BsonTimestamp(
        cluster.one(() -> ClusterQueries.latestTime(cluster.client())).getValue() + 1);
  }

  /**
   * The mapping of a copy back. If the copy back is resumed, its job contains the mapping.
   * Otherwise it is the inverted mapping of the finished job.
   */
  static Mapping mapping(ClusterEnd source, ClusterEnd destination, CopySettings settings)
      throws InterruptedException {
    if (settings.begin() != ClusterCopy.Begin.RESUME) {
      return JobFields.mapping(finished(source, destination, settings).getDocument("mapping"))
          .inverted();
    }
    BsonDocument known = jobs(destination, settings).read();
    // A later step reports that the job is missing.
    return known == null ? Mapping.ALL : JobFields.mapping(known.getDocument("mapping"));
  }

  private static Job jobs(ClusterEnd end, CopySettings settings) {
    return new Job(end, ClusterCopy.STATE_DATABASE, settings.job(), settings.lease());
  }

  /**
   * Reads the finished job.
   *
   * @throws CopyException if the job can't be reversed
   */
  static Reversal of(ClusterEnd source, ClusterEnd destination, CopySettings settings)
      throws InterruptedException {
    BsonDocument finished = finished(source, destination, settings);
    Reversal reversal =
        new Reversal(
            settings.job(),
            finished.getObjectId("incarnation"),
            finished.getTimestamp("finishedThere"),
            finished.getTimestamp("finishedAt"));
    requireTwoWays(destination, settings.mapping().inverted());
    for (Map.Entry<String, ReplicaSet> shard : source.shards().entrySet()) {
      requireHistory(source, shard.getKey(), shard.getValue(), reversal.start());
    }
    return reversal;
  }

  private static BsonDocument finished(
      ClusterEnd source, ClusterEnd destination, CopySettings settings)
      throws InterruptedException {
    BsonDocument job = jobs(source, settings).read();
    String name = "the job " + settings.job();
    if (job == null) {
      throw new CopyException(
          "the source has no job "
              + settings.job()
              + ": the source of a reverse copy is the destination of a finished copy");
    }
    JobFields.requireFormat(settings, job);
    if (!new BsonString(CopyPhase.DONE.name()).equals(job.get("phase"))
        || !(job.get("finishedThere") instanceof BsonTimestamp)) {
      throw new CopyException(name + " was not finished: use onehop copy finish");
    }
    if (!JobFields.isCopyOf(destination, job)) {
      throw new CopyException(name + " has copied another cluster, not this destination");
    }
    if (!job.getDocument("mapping").getArray("filters").isEmpty()
        || job.getBoolean("transformed", BsonBoolean.FALSE).getValue()
        || job.getDocument("mapping").getArray("operations").size()
            < CopyOperation.values().length) {
      throw new CopyException(
          name
              + " can't be reversed, because it left out or changed some documents (by a filter, a"
              + " transformation or selected operations)");
    }
    return job;
  }

  /** Checks that the inverted mapping maps every copied collection back to its own name. */
  private static void requireTwoWays(ClusterEnd end, Mapping mapping) throws InterruptedException {
    Mapping back = mapping.inverted();
    for (String namespace : StructureReader.list(end, mapping::concerns).keySet()) {
      String there = mapping.destination(namespace);
      if (there != null && !namespace.equals(back.destination(there))) {
        throw new CopyException(
            "names can't be reversed: %s and %s both become %s"
                .formatted(namespace, back.destination(there), there));
      }
    }
  }

  /**
   * Checks that a shard's oplog still has all changes since the start. If changes are missing, the
   * shard refuses to open a change stream from the start.
   */
  private static void requireHistory(
      ClusterEnd source, String shard, ReplicaSet servers, BsonTimestamp start)
      throws InterruptedException {
    BsonDocument stream =
        new BsonDocument("allChangesForCluster", BsonBoolean.TRUE)
            .append("startAtOperationTime", start);
    BsonDocument open =
        new BsonDocument("aggregate", new BsonInt32(1))
            .append(
                "pipeline",
                new BsonArray(
                    List.of(
                        new BsonDocument("$changeStream", stream),
                        BsonDocument.parse("{$project: {_id: 1}}"))))
            .append("cursor", new BsonDocument());
    try {
      long cursor = CursorReplies.id(source.one(() -> source.send(servers, "admin", open)));
      Waits.first(
          source
              .send(
                  servers,
                  "admin",
                  new BsonDocument("killCursors", new BsonString("$cmd.aggregate"))
                      .append("cursors", new BsonArray(List.of(new BsonInt64(cursor)))))
              .onErrorComplete());
    } catch (CommandFailure refused) {
      if (refused.code() == ErrorCodes.CHANGE_STREAM_HISTORY_LOST
          || refused.code() == ErrorCodes.CHANGE_STREAM_FATAL_ERROR) {
        throw new CopyException(
            "the oplog of the source%s no longer has all changes since the job was finished"
                .formatted(shard.equals(ClusterEnd.ALONE) ? "" : "'s shard " + shard),
            refused);
      }
      throw refused;
    }
  }

  /**
   * The number of writes to the finished job's source that the finished job has not applied. This
   * source is the destination of the copy back.
   *
   * @return the number of operations in all databases; 0 if it is unknown
   */
  long written(ClusterEnd destination) throws InterruptedException {
    try (OperationsBehind writes = new OperationsBehind(destination, finished, why -> {})) {
      for (int look = 0; look < LOOKS; look++) {
        Long count = writes.since(finished);
        if (count != null) {
          return count;
        }
        Thread.sleep(LOOK_MILLIS);
      }
    }
    return 0;
  }

  /**
   * Checks whether this copy back may replace a job.
   *
   * @param known the job of the same name at the destination of this copy back; null if there is
   *     none
   * @throws CopyException if the known job is not done, or if it has already reversed the finished
   *     job
   */
  void check(@Nullable BsonDocument known) {
    if (known == null) {
      return;
    }
    if (!new BsonString(CopyPhase.DONE.name()).equals(known.get("phase"))) {
      throw new CopyException(
          "the destination has the job %s already, in phase %s: resume it"
              .formatted(name, known.getString("phase", new BsonString("none")).getValue()));
    }
    if (job.equals(known.get("reverses"))) {
      throw new CopyException("the job " + name + " was reversed already");
    }
  }
}
