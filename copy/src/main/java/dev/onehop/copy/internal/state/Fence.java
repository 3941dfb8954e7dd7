package dev.onehop.copy.internal.state;

import static dev.onehop.copy.internal.state.Expressions.literal;
import static dev.onehop.copy.internal.state.Expressions.operator;

import com.mongodb.MongoException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.conversions.Bson;
import org.reactivestreams.Publisher;

/**
 * Writes that have no effect once another process has the job. Each is a transaction which ends
 * with a change of its lane's document, on the condition that this has the writer's term. A new
 * owner of the job first raises the terms of all lanes. So an old owner's transaction has committed
 * before that, or it fails as a whole, whenever it may go on.
 *
 * <p>Thread-safe; a lane is for one thread at a time.
 */
public final class Fence {
  private static final long RAISING_SECONDS = 2;
  private static final int MAX_TIME_EXPIRED = 50;

  // What a statement fails with when a new owner ends the session.
  private static final int INTERRUPTED = 11601;
  private static final TransactionOptions OPTIONS =
      TransactionOptions.builder()
          .readConcern(ReadConcern.LOCAL)
          .readPreference(ReadPreference.primary())
          .writeConcern(WriteConcern.MAJORITY)
          .build();

  private final ClusterEnd destination;
  private final MongoCollection<BsonDocument> lanes;
  private final BsonObjectId incarnation;
  private final BsonInt64 term;

  /**
   * @param incarnation which job it is
   * @param term under which this process has it
   */
  public Fence(ClusterEnd destination, String database, BsonObjectId incarnation, BsonInt64 term) {
    this.destination = destination;
    this.lanes = destination.database(database).getCollection("lanes", BsonDocument.class);
    this.incarnation = incarnation;
    this.term = term;
  }

  /**
   * Shuts everybody else out of all lanes, those that were there before and the first ones.
   *
   * @return the first lanes
   */
  public List<Lane> raise(int count) throws InterruptedException {
    List<Lane> raised = new ArrayList<>();
    // The first one before the others are looked for, and looked at again after them: of two
    // processes that are at this at the same time, one sees the lanes of the other, or that it is
    // shut out.
    end(destination.all(lanes.find(Filters.eq(id(0)))));
    raised.add(raise(id(0)));
    List<BsonDocument> before =
        destination.all(lanes.find(Filters.and(ofJob(), Filters.gt("_id.lane", 0))));
    end(before);
    int most =
        before.stream()
            .mapToInt(lane -> lane.getDocument("_id").getInt32("lane").getValue() + 1)
            .max()
            .orElse(0);
    for (int number = 1; number < Math.max(count, most); number++) {
      raised.add(raise(id(number)));
    }
    BsonDocument first =
        Waits.persistently(
            "the destination", () -> Waits.one(lanes.find(Filters.eq(id(0))).first()));
    if (!term.equals(first.get("term"))) {
      throw Job.lost(null);
    }
    raised.stream().skip(count).forEach(Lane::close);
    return raised.subList(0, Math.min(count, raised.size()));
  }

  private Bson ofJob() {
    return Filters.eq("incarnation", incarnation);
  }

  /** Shuts everybody out of all lanes of a job that is no more. */
  public static void close(ClusterEnd destination, String database, BsonObjectId incarnation)
      throws InterruptedException {
    var unused =
        new Fence(destination, database, incarnation, new BsonInt64(Long.MAX_VALUE)).raise(0);
  }

  private BsonDocument id(int number) {
    return new BsonDocument("incarnation", incarnation).append("lane", new BsonInt32(number));
  }

  /** Without this, an old owner's open transaction would be waited for. */
  private void end(List<BsonDocument> old) throws InterruptedException {
    if (old.isEmpty()) {
      return;
    }
    BsonDocument kill =
        new BsonDocument(
            "killSessions",
            new BsonArray(old.stream().map(lane -> lane.getDocument("session")).toList()));
    try {
      destination.run("admin", kill);
    } catch (RuntimeException refused) {
      // The server ends it by itself, a minute later.
    }
  }

  private Lane raise(BsonDocument id) throws InterruptedException {
    ClientSession session = Waits.one(destination.client().startSession());
    BsonString stored = new BsonString("$term");
    BsonDocument fields =
        new BsonDocument("incarnation", literal(incarnation))
            .append("term", operator("$max", stored, term))
            .append(
                "session",
                operator(
                    "$cond",
                    operator("$gt", stored, term),
                    new BsonString("$session"),
                    literal(session.getServerSession().getIdentifier())));
    for (int tries = 1; ; tries++) {
      try {
        BsonDocument now =
            Waits.one(
                lanes.findOneAndUpdate(
                    Filters.eq(id),
                    List.of(new BsonDocument("$set", fields)),
                    new FindOneAndUpdateOptions()
                        .upsert(true)
                        .returnDocument(ReturnDocument.AFTER)
                        .maxTime(RAISING_SECONDS, TimeUnit.SECONDS)));
        if (!term.equals(now.get("term"))) {
          throw Job.lost(null);
        }
        return new Lane(id, session);
      } catch (MongoException failure) {
        if (failure.getCode() != MAX_TIME_EXPIRED && !Waits.isPassing(failure)) {
          session.close();
          throw failure;
        }
        Waits.pause("the lanes of the job", failure, tries);
      }
    }
  }

  /** One line of writes, each done before the next. */
  public final class Lane implements AutoCloseable {
    private final Bson mine;
    private final ClientSession session;

    private Lane(BsonDocument id, ClientSession session) {
      this.mine = Filters.and(Filters.eq(id), Filters.eq("term", term));
      this.session = session;
    }

    /**
     * Writes in a transaction, again while servers can't be reached. When no answer tells that it
     * was committed it may be done twice, the second time after the first.
     *
     * @param writes what is done with the session
     * @throws dev.onehop.copy.progress.CopyException if another process has the job
     */
    public void write(Function<ClientSession, ? extends Publisher<?>> writes)
        throws InterruptedException {
      for (int tries = 1; ; tries++) {
        try {
          attempt(writes);
          return;
        } catch (RuntimeException failure) {
          if (!Waits.isPassing(failure) && !isInterrupted(failure)) {
            throw failure;
          }
          Waits.pause("the destination", failure, tries);
        }
      }
    }

    private void attempt(Function<ClientSession, ? extends Publisher<?>> writes)
        throws InterruptedException {
      session.startTransaction(OPTIONS);
      try {
        // First what is copied: a transaction goes by way of the mongos beside the shard that its
        // first statement is for, and those of the lanes are all on one shard.
        Waits.first(writes.apply(session));
        long matched =
            Waits.one(lanes.updateOne(session, mine, Updates.inc("writes", 1L))).getMatchedCount();
        if (matched == 0) {
          throw Job.lost(null);
        }
      } catch (RuntimeException | InterruptedException | Error failure) {
        abort();
        throw failure;
      }
      commit();
    }

    private void abort() throws InterruptedException {
      try {
        Waits.first(session.abortTransaction());
      } catch (RuntimeException failure) {
        // It is ended by the server, or by the next one of the session.
      }
    }

    private void commit() throws InterruptedException {
      for (int tries = 1; ; tries++) {
        try {
          Waits.first(session.commitTransaction());
          return;
        } catch (MongoException failure) {
          if (!failure.hasErrorLabel(MongoException.UNKNOWN_TRANSACTION_COMMIT_RESULT_LABEL)) {
            throw failure;
          }
          Waits.pause("the destination", failure, tries);
        }
      }
    }

    private boolean isInterrupted(RuntimeException failure) {
      return failure instanceof MongoException known && known.getCode() == INTERRUPTED;
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
