package dev.onehop.streams.internal.shard;

import static dev.onehop.core.bson.Expressions.literal;

import dev.onehop.streams.internal.merge.ShardStream.Place;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.wire.message.BsonCopies;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The command that opens a change stream.
 *
 * @param database the watched database, or the database of the watched collection; {@code admin}
 *     without a collection for the whole cluster
 * @param collection the watched collection; null for all collections of the database
 * @param options the options of the stage {@code $changeStream}, without the position where the
 *     stream starts
 * @param pipeline the stages after {@code $changeStream}
 * @param batchSize the largest number of events in a batch; 0 for the server's limit
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

  private static final String DOCUMENT = "fullDocument";

  /** Matches the text of a {@code $match} stage that may depend on the looked-up document. */
  private static final Pattern OF_DOCUMENT =
      Pattern.compile(DOCUMENT + "|\\$\\$|\\$getField|\\$jsonSchema");

  /**
   * The most events in a batch with lookups. It is small because each event may have a document of
   * 16 MB.
   */
  private static final int MOST_LOOKUPS = 100;

  // Stages that return exactly one document, whatever the collection contains. The user needs only
  // the right to read the collection. The stage $documents would need other rights.
  private static final List<BsonDocument> ONE_DOCUMENT =
      List.of(
          BsonDocument.parse("{$match: {$alwaysFalse: 1}}"),
          BsonDocument.parse("{$facet: {nothing: [{$limit: 1}]}}"));

  public StreamCommand {
    pipeline = List.copyOf(pipeline);
  }

  /** Whether the documents of updates are looked up. */
  boolean looksUp() {
    return new BsonString("updateLookup").equals(options.get(DOCUMENT));
  }

  /**
   * The command of the stream without lookups. It has only the first {@code $match} stages, which
   * do not depend on looked-up documents.
   */
  StreamCommand beforeLookups() {
    return new StreamCommand(
        database,
        collection,
        BsonCopies.without(options, Set.of(DOCUMENT)),
        pipeline.subList(0, selections()),
        batchSize == 0 ? MOST_LOOKUPS : Math.min(batchSize, MOST_LOOKUPS));
  }

  /** The stages after the lookups. */
  List<BsonDocument> afterLookups() {
    return pipeline.subList(selections(), pipeline.size());
  }

  private int selections() {
    int stages = 0;
    while (stages < pipeline.size()
        && pipeline.get(stages).containsKey("$match")
        && !OF_DOCUMENT.matcher(pipeline.get(stages).toJson()).find()) {
      stages++;
    }
    return stages;
  }

  /**
   * The command that applies the stages after the lookups to events. The command contains the
   * events as literals.
   */
  BsonDocument afterLookups(List<? extends BsonDocument> events) {
    BsonDocument all = literal(new BsonArray(List.copyOf(events)));
    BsonString each = new BsonString("$e");
    BsonArray stages = new BsonArray(ONE_DOCUMENT);
    stages.add(new BsonDocument("$replaceWith", new BsonDocument("e", all)));
    stages.add(new BsonDocument("$unwind", each));
    stages.add(new BsonDocument("$replaceWith", each));
    stages.addAll(afterLookups());
    return new BsonDocument("aggregate", new BsonString(readable()))
        .append("pipeline", stages)
        // The batch size is one more than the number of events, so that the server closes the
        // cursor with the first batch.
        .append("cursor", new BsonDocument("batchSize", new BsonInt32(events.size() + 1)))
        // A change stream uses the simple collation, not the collection's collation.
        .append("collation", new BsonDocument("locale", new BsonString("simple")))
        .append("$db", new BsonString(database));
  }

  /** The command that opens a stream and reads nothing, so that the server checks the pipeline. */
  BsonDocument check(Place place) {
    BsonDocument open = command(new Place(place.after(), null), pipeline, 0);
    open.put("cursor", new BsonDocument("batchSize", new BsonInt32(0)));
    return open;
  }

  /**
   * The command for a stream that starts at a position.
   *
   * @param most the largest number of events in a batch; 0 for the server's limit
   */
  BsonDocument open(Place place, int most) {
    return command(place, pipeline, most);
  }

  /**
   * The command of {@link #open} for the first event only, without the fields that may be large.
   */
  BsonDocument narrow(Place place) {
    return command(place, and(NARROW), 1);
  }

  /**
   * The command of {@link #open} for one event or fragment at a time, for servers that can split
   * events into fragments.
   */
  BsonDocument split(Place place) {
    return command(place, and(SPLIT), 1);
  }

  private List<BsonDocument> and(BsonDocument last) {
    List<BsonDocument> stages = new ArrayList<>(pipeline);
    stages.add(last);
    return stages;
  }

  private BsonDocument command(Place place, List<BsonDocument> stages, int batch) {
    BsonDocument stage = new BsonDocument();
    stage.putAll(options);
    BsonTimestamp time = Tokens.clusterTime(place.after());
    if (place.own() != null && !place.after().equals(Tokens.highWater(time))) {
      stage.append("startAfter", place.own());
    } else {
      stage.append("startAtOperationTime", time);
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

  /** The read concern of a majority read at this cluster time or a later one. */
  static BsonDocument majorityAfter(BsonTimestamp time) {
    return new BsonDocument("level", new BsonString("majority")).append("afterClusterTime", time);
  }

  /** A collection that the user of the stream may read; it need not exist. */
  String readable() {
    return collection == null ? "onehop.clock" : collection;
  }

  boolean isOfCluster() {
    return collection == null && database.equals("admin");
  }
}
