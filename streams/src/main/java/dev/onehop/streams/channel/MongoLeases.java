package dev.onehop.streams.channel;

import static com.mongodb.client.model.Filters.and;
import static com.mongodb.client.model.Filters.eq;
import static com.mongodb.client.model.Filters.exists;
import static com.mongodb.client.model.Filters.expr;
import static com.mongodb.client.model.Filters.lt;
import static com.mongodb.client.model.Filters.or;
import static dev.onehop.core.bson.Expressions.literal;
import static dev.onehop.core.bson.Expressions.operator;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.wire.message.ErrorCodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Leases in a MongoDB collection. The group, each channel and each member has one document. All
 * times come from the servers' clock: {@code $$NOW}.
 */
final class MongoLeases implements LeaseStore {
  private static final String REMOVED = "removed";
  private static final BsonString NOW = new BsonString("$$NOW");
  private static final BsonDocument EXPIRED = operator("$lte", new BsonString("$until"), NOW);
  private static final BsonDocument IN_ORDER =
      BsonDocument.parse("{$sort: {channel: 1, joined: 1, member: 1}}");
  private static final UpdateOptions UPSERT = new UpdateOptions().upsert(true);
  private static final BulkWriteOptions UNORDERED = new BulkWriteOptions().ordered(false);

  private final MongoCollection<BsonDocument> collection;
  private final String group;
  private final int channels;
  private final BsonInt64 leaseMillis;

  MongoLeases(MongoCollection<?> collection, String group, int channels, Duration lease) {
    this.collection = durable(collection);
    this.group = group;
    this.channels = channels;
    this.leaseMillis = new BsonInt64(lease.toMillis());
  }

  /** A collection whose reads and writes cannot be rolled back. */
  static MongoCollection<BsonDocument> durable(MongoCollection<?> collection) {
    return collection
        .withDocumentClass(BsonDocument.class)
        .withReadPreference(ReadPreference.primary())
        .withReadConcern(ReadConcern.MAJORITY)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  @Override
  public Mono<Group> create(Mono<Checkpoint> start) {
    Mono<BsonDocument> found = Mono.from(collection.find(eq(id())).first());
    return removeMembers()
        .then(found)
        .switchIfEmpty(start.flatMap(this::begin).then(found))
        .flatMap(
            begun -> {
              if (begun.containsKey(REMOVED)) {
                throw removed();
              }
              int created = begun.getInt32("channels").getValue();
              if (created != channels) {
                throw new IllegalArgumentException(
                    "group %s was created with %d channels, but this member uses %d"
                        .formatted(group, created, channels));
              }
              BsonDocument from = begun.getDocument("start");
              return addChannels(from).thenReturn(new Group(made(begun), Checkpoint.parse(from)));
            });
  }

  private static String made(BsonDocument begun) {
    return begun.getObjectId("made").getValue().toHexString();
  }

  /** Removes the documents of members that have ended without {@link #leave}. */
  private Mono<Void> removeMembers() {
    Bson late = and(id(), exists("member"), expr(EXPIRED));
    return Mono.from(collection.deleteMany(late)).then();
  }

  private Mono<Void> begin(Checkpoint start) {
    BsonDocument begun =
        id().append("made", new BsonObjectId())
            .append("channels", new BsonInt32(channels))
            .append("start", start.toDocument());
    return unlessThere(
        Mono.from(collection.updateOne(eq(id()), Updates.setOnInsert(begun), UPSERT)));
  }

  private Mono<Void> addChannels(BsonDocument start) {
    List<WriteModel<BsonDocument>> inserts = new ArrayList<>();
    for (int channel = 0; channel < channels; channel++) {
      BsonDocument free =
          id(channel)
              .append("owner", BsonNull.VALUE)
              .append("term", new BsonInt64(0))
              .append("renewal", new BsonInt64(0))
              .append("place", start);
      inserts.add(new UpdateOneModel<>(eq(id(channel)), Updates.setOnInsert(free), UPSERT));
    }
    return unlessThere(Mono.from(collection.bulkWrite(inserts, UNORDERED)));
  }

  /** Ignores duplicate keys: another member may insert the same documents at the same time. */
  private static Mono<Void> unlessThere(Mono<?> insert) {
    return insert
        .onErrorResume(
            failure ->
                failure instanceof MongoBulkWriteException bulk
                    ? bulk.getWriteErrors().stream()
                            .allMatch(error -> error.getCode() == ErrorCodes.DUPLICATE_KEY)
                        && bulk.getWriteConcernError() == null
                    : failure instanceof com.mongodb.MongoException other
                        && other.getCode() == ErrorCodes.DUPLICATE_KEY,
            failure -> Mono.empty())
        .then();
  }

  @Override
  public Mono<Void> renew(String member, long renewal, List<Hold> holds) {
    List<WriteModel<BsonDocument>> updates = new ArrayList<>();
    updates.add(
        new UpdateOneModel<>(
            eq(id(member)),
            List.of(
                set(
                    new BsonDocument("group", literal(new BsonString(group)))
                        .append("member", literal(new BsonString(member)))
                        .append("joined", operator("$ifNull", new BsonString("$joined"), NOW))
                        .append("until", until()))),
            UPSERT));
    for (Hold hold : holds) {
      BsonDocument fields =
          stored(hold).append("until", until()).append("renewal", new BsonInt64(renewal));
      // A renewal that arrives late must not overwrite a later position.
      Bson next = and(heldBy(member, hold), lt("renewal", renewal));
      updates.add(new UpdateOneModel<>(next, List.of(set(fields))));
    }
    return Mono.from(collection.bulkWrite(updates, UNORDERED)).then();
  }

  @Override
  public Mono<View> read() {
    List<Bson> pipeline =
        List.of(
            new BsonDocument("$match", id()), set(new BsonDocument("expired", EXPIRED)), IN_ORDER);
    return Flux.from(collection.aggregate(pipeline)).collectList().map(MongoLeases::view);
  }

  private static View view(List<BsonDocument> documents) {
    List<Lease> leases = new ArrayList<>();
    List<String> members = new ArrayList<>();
    String group = null;
    boolean ended = false;
    for (BsonDocument each : documents) {
      if (each.containsKey("channel")) {
        leases.add(lease(each));
      } else if (each.containsKey("member")) {
        if (!each.getBoolean("expired").getValue()) {
          members.add(each.getString("member").getValue());
        }
      } else if (!each.containsKey(REMOVED)) {
        group = made(each);
        ended = each.containsKey("ended");
      }
    }
    return new View(group, leases, members, ended);
  }

  private static Lease lease(BsonDocument document) {
    return new Lease(
        document.getInt32("channel").getValue(),
        string(document, "owner"),
        document.getInt64("term").getValue(),
        document.getBoolean("expired", BsonBoolean.FALSE).getValue(),
        document.getInt64("renewal").getValue(),
        Checkpoint.parse(document.getDocument("place")),
        string(document, "barrier"));
  }

  private static @Nullable String string(BsonDocument document, String field) {
    return document.get(field) instanceof BsonString value ? value.getValue() : null;
  }

  @Override
  public Mono<Lease> take(int channel, String member) {
    Bson free = and(eq(id(channel)), or(eq("owner", null), eq("owner", member), expr(EXPIRED)));
    BsonDocument taken =
        new BsonDocument("owner", literal(new BsonString(member)))
            .append("term", operator("$add", new BsonString("$term"), new BsonInt64(1)))
            .append("until", until())
            .append("renewal", new BsonInt64(0));
    return Mono.from(
            collection.findOneAndUpdate(
                free,
                List.of(set(taken)),
                new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER)))
        .map(MongoLeases::lease);
  }

  @Override
  public Mono<Void> release(String member, Hold hold) {
    BsonDocument free =
        stored(hold).append("owner", BsonNull.VALUE).append("until", BsonNull.VALUE);
    return Mono.from(collection.updateOne(heldBy(member, hold), List.of(set(free)))).then();
  }

  @Override
  public Mono<Void> end() {
    return Mono.from(collection.updateOne(eq(id()), Updates.set("ended", true))).then();
  }

  @Override
  public Mono<Void> remove() {
    Bson gone = Updates.combine(Updates.set("group", group), Updates.set(REMOVED, true));
    return Mono.from(collection.updateOne(eq(id()), gone, UPSERT)).then();
  }

  @Override
  public String toString() {
    return "the leases of group " + group + " in " + collection.getNamespace();
  }

  @Override
  public Mono<Void> leave(String member) {
    return Mono.from(collection.deleteOne(eq(id(member)))).then();
  }

  /** The condition of each write to a channel: the member owns the channel in this term. */
  private Bson heldBy(String member, Hold hold) {
    return and(eq(id(hold.channel())), eq("owner", member), eq("term", hold.term()));
  }

  private static BsonDocument stored(Hold hold) {
    String barrier = hold.barrier();
    return new BsonDocument("place", literal(hold.place().toDocument()))
        .append("barrier", barrier == null ? BsonNull.VALUE : literal(new BsonString(barrier)));
  }

  private BsonDocument until() {
    return operator("$add", NOW, leaseMillis);
  }

  private static BsonDocument set(BsonDocument fields) {
    return new BsonDocument("$set", fields);
  }

  private BsonDocument id() {
    return new BsonDocument("group", new BsonString(group));
  }

  private BsonDocument id(int channel) {
    return id().append("channel", new BsonInt32(channel));
  }

  private BsonDocument id(String member) {
    return id().append("member", new BsonString(member));
  }
}
