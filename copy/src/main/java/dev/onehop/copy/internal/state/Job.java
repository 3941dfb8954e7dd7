package dev.onehop.copy.internal.state;

import static dev.onehop.core.bson.Expressions.literal;
import static dev.onehop.core.bson.Expressions.operator;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.progress.CopyException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/**
 * A job's document at the destination: the owner, the end of the owner's lease, the term, and the
 * progress. Only one process owns a job at a time, and each new owner raises the term. All times
 * come from the servers' clock ({@code $$NOW}). Every write of an owner has the condition that the
 * document still has this owner and this term.
 *
 * <p>Thread-safe.
 */
public final class Job {
  private static final BsonString NOW = new BsonString("$$NOW");

  private final ClusterEnd destination;
  private final MongoCollection<BsonDocument> jobs;
  private final String name;
  private final BsonString owner = new BsonString(new ObjectId().toHexString());
  private final BsonInt64 leaseMillis;
  private volatile BsonDocument known = new BsonDocument();

  /**
   * @param name the name of the job
   * @param lease how long a process owns the job without a renewal
   */
  public Job(ClusterEnd destination, String database, String name, Duration lease) {
    this.destination = destination;
    this.jobs = destination.database(database).getCollection("jobs", BsonDocument.class);
    this.name = name;
    this.leaseMillis = new BsonInt64(lease.toMillis());
  }

  /** Reads the document; null if there is no such job. */
  public @Nullable BsonDocument read() throws InterruptedException {
    return first(jobs.find(byName()).first()).orElse(null);
  }

  /** Whether a process owns the job at this moment. */
  public boolean isTaken() throws InterruptedException {
    Bson taken =
        Filters.and(
            byName(),
            Filters.ne("owner", BsonNull.VALUE),
            Filters.expr(operator("$gt", new BsonString("$until"), NOW)));
    return first(jobs.find(taken).first()).isPresent();
  }

  private <T> Optional<T> first(Publisher<T> found) throws InterruptedException {
    return destination.persistently(() -> Optional.ofNullable(Waits.first(found)));
  }

  private Bson byName() {
    return Filters.eq(name);
  }

  /**
   * Creates a job, or replaces the job of this name. Does nothing if another process owns the job.
   *
   * @param fields the fields to store; {@code incarnation} has the id of the new job
   * @return whether this process owns the new job
   */
  public boolean create(BsonDocument fields) throws InterruptedException {
    Bson free =
        Updates.combine(
            Updates.setOnInsert("owner", BsonNull.VALUE),
            Updates.setOnInsert("term", new BsonInt64(0)));
    destination.one(() -> jobs.updateOne(byName(), free, new UpdateOptions().upsert(true)));
    // Taking the job raises the term, so that writes of an earlier process have no effect.
    return take(fields);
  }

  /** Takes the job if no other process owns it. */
  public boolean take() throws InterruptedException {
    return take(new BsonDocument());
  }

  private boolean take(BsonDocument fields) throws InterruptedException {
    BsonDocument taken = new BsonDocument();
    fields.forEach((field, value) -> taken.append(field, literal(value)));
    taken
        .append("owner", literal(owner))
        .append("term", operator("$add", new BsonString("$term"), new BsonInt64(1)))
        .append("until", operator("$add", NOW, leaseMillis));
    BsonDocument free =
        new BsonDocument("_id", new BsonString(name))
            .append(
                "$expr",
                operator(
                    "$or",
                    operator("$eq", new BsonString("$owner"), BsonNull.VALUE),
                    operator("$eq", new BsonString("$owner"), literal(owner)),
                    operator("$lte", new BsonString("$until"), NOW)));
    return change(free, taken);
  }

  private boolean change(Bson filter, BsonDocument fields) throws InterruptedException {
    Optional<BsonDocument> now =
        first(
            jobs.findOneAndUpdate(
                filter,
                List.of(new BsonDocument("$set", fields)),
                new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER)));
    now.ifPresent(document -> known = document);
    return now.isPresent();
  }

  /**
   * Renews the lease.
   *
   * @throws CopyException if another process owns the job
   */
  public void renew() throws InterruptedException {
    set(new BsonDocument());
  }

  /** Stores fields, and renews the lease. */
  public void set(BsonDocument fields) throws InterruptedException {
    BsonDocument set = new BsonDocument("until", operator("$add", NOW, leaseMillis));
    fields.forEach((field, value) -> set.append(field, literal(value)));
    if (!change(mine(), set)) {
      throw lost(null);
    }
  }

  /** The failure of a process after another process has taken the job. */
  public static CopyException lost(@Nullable Throwable cause) {
    return new CopyException(
        "another process has taken the job over, because this process had not renewed its lease"
            + " in time",
        cause);
  }

  private Bson mine() {
    return Filters.and(byName(), Filters.eq("owner", owner), Filters.eq("term", term()));
  }

  /** Releases the job, so that another process does not wait for the end of the lease. */
  public void release() throws InterruptedException {
    Waits.first(
        jobs.updateOne(
            mine(), new BsonDocument("$set", new BsonDocument("owner", BsonNull.VALUE))));
  }

  /** The term under which this process owns the job. */
  public BsonInt64 term() {
    return known.getInt64("term");
  }

  /** The id that distinguishes this job from other jobs of the same name. */
  public BsonObjectId incarnation() {
    return known.getObjectId("incarnation");
  }

  /** The value of a field at this process's last write to the job. */
  public @Nullable BsonValue get(String field) {
    return known.get(field);
  }

  /** The value of a field that must exist, at this process's last write to the job. */
  public BsonValue required(String field) {
    return Objects.requireNonNull(known.get(field), field);
  }

  /** Whether a pause was requested. */
  public boolean isPaused() {
    return BsonBoolean.TRUE.equals(known.get("paused"));
  }

  /** Whether the end of the job was requested. */
  public boolean isToFinish() {
    return BsonBoolean.TRUE.equals(known.get("finish"));
  }

  /**
   * Requests that the job's owner pauses, proceeds or finishes.
   *
   * @param what the field of the request: {@code paused} or {@code finish}
   * @return whether the job exists
   */
  public boolean ask(String what, boolean yes) throws InterruptedException {
    return destination.one(() -> jobs.updateOne(byName(), Updates.set(what, yes))).getMatchedCount()
        > 0;
  }
}
