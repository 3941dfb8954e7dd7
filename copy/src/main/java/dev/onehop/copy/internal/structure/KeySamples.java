package dev.onehop.copy.internal.structure;

import com.mongodb.MongoException;
import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import reactor.core.publisher.Mono;

/**
 * Reads the sizes of the source's collections and samples of their keys. The shards estimate the
 * values. The values decide only the bounds of ranges, never which documents are copied.
 * Thread-safe.
 */
public record KeySamples(ClusterEnd source) {
  // Errors of $sample. The first one: $sample of several shards can't be merged without a mongos.
  // The second one: a random cursor has returned the same documents a hundred times, because the
  // collection is new and its pages have few documents.
  private static final Set<Integer> NO_SAMPLE = Set.of(ErrorCodes.COMMAND_NOT_SUPPORTED, 28_799);

  /**
   * The size of a collection on a shard. Orphaned documents count.
   *
   * @param documents the number of documents
   * @param bytes the bytes of BSON of the documents
   * @param stored the bytes of the documents and indexes on the shard's disk
   */
  public record Size(long documents, long bytes, long stored) {
    /** The size of nothing. */
    public static final Size NONE = new Size(0, 0, 0);

    /** The sum of two sizes. */
    public Size plus(Size other) {
      return new Size(documents + other.documents, bytes + other.bytes, stored + other.stored);
    }
  }

  /** The size of a collection on each shard that owns a part of it. */
  public Map<String, Size> sizes(String namespace) throws InterruptedException {
    Map<String, Size> sizes = new TreeMap<>();
    for (String shard : owners(namespace)) {
      sizes.put(shard, source.one(() -> size(namespace, shard)));
    }
    return sizes;
  }

  private Collection<String> owners(String namespace) throws InterruptedException {
    return source.isSharded()
        ? source.one(() -> source.servers().table(namespace, null)).shards()
        : List.of(ClusterEnd.ALONE);
  }

  private Mono<Size> size(String namespace, String shard) {
    BsonDocument command =
        aggregate(
            namespace,
            List.of(
                BsonDocument.parse("{$collStats: {storageStats: {}}}"),
                BsonDocument.parse(
                    "{$project: {count: '$storageStats.count', size: '$storageStats.size', stored:"
                        + " {$subtract: [{$add: ['$storageStats.storageSize',"
                        + " '$storageStats.totalIndexSize']}, {$ifNull:"
                        + " ['$storageStats.freeStorageSize', 0]}]}}}")));
    return send(namespace, shard, command)
        .map(
            reply -> {
              List<RawBsonDocument> documents = CursorReplies.documents(reply);
              return documents.isEmpty()
                  ? Size.NONE
                  : new Size(
                      number(documents.get(0), "count"),
                      number(documents.get(0), "size"),
                      number(documents.get(0), "stored"));
            })
        .onErrorResume(
            failure ->
                failure instanceof CommandFailure refused
                    && refused.code() == ErrorCodes.NAMESPACE_NOT_FOUND,
            failure -> Mono.just(Size.NONE));
  }

  private static long number(BsonDocument document, String field) {
    return document.getNumber(field, new BsonInt32(0)).longValue();
  }

  /**
   * Some keys of a shard's documents, in the order of the index. Keys of orphaned documents may be
   * among them.
   *
   * @param pattern the pattern of the keys
   * @param size the number of documents to sample
   * @param of the size of the collection on the shard
   */
  public List<BsonDocument> keys(
      String namespace, String shard, ShardKeyPattern pattern, int size, Size of)
      throws InterruptedException {
    List<BsonDocument> stages = new ArrayList<>();
    if (isSortedByServer(pattern)) {
      // The server sorts these keys, because the index of _id may have a collation, which this
      // program can't apply.
      stages.add(BsonDocument.parse("{$sort: {_id: 1}}"));
    }
    stages.add(new BsonDocument("$project", KeyFields.of(pattern.paths())));
    BsonDocument reply =
        take(size, of.documents(), sample -> sampled(namespace, shard, sample, stages));
    return ordered(CursorReplies.documents(reply), pattern);
  }

  private BsonDocument sampled(
      String namespace, String shard, BsonDocument sample, List<BsonDocument> then)
      throws InterruptedException {
    List<BsonDocument> stages = new ArrayList<>(List.of(sample));
    stages.addAll(then);
    BsonDocument command =
        aggregate(namespace, stages)
            .append("readConcern", new BsonDocument("level", new BsonString("available")));
    return source.one(() -> send(namespace, shard, command));
  }

  private Mono<BsonDocument> send(String namespace, String shard, BsonDocument command) {
    return source
        .shard(shard)
        .flatMap(set -> source.send(set, Mapping.databaseOf(namespace), command));
  }

  private static List<BsonDocument> ordered(
      List<RawBsonDocument> documents, ShardKeyPattern pattern) {
    // The characters of a key are its bytes, so that strings have the order of unsigned bytes.
    Map<String, BsonDocument> bounds =
        isSortedByServer(pattern) ? new LinkedHashMap<>() : new TreeMap<>();
    for (RawBsonDocument document : documents) {
      try {
        bounds.putIfAbsent(
            new String(pattern.keyOf(document), StandardCharsets.ISO_8859_1),
            pattern.keyDocumentOf(document));
      } catch (ShardKeyException noKey) {
        // The document has no key: an unsharded collection may have arrays in these fields.
      }
    }
    return List.copyOf(bounds.values());
  }

  private static boolean isSortedByServer(ShardKeyPattern pattern) {
    return pattern.paths().equals(List.of("_id")) && !pattern.isHashed();
  }

  private static BsonDocument aggregate(String namespace, List<BsonDocument> stages) {
    List<BsonValue> pipeline = new ArrayList<>(stages);
    return new BsonDocument("aggregate", new BsonString(Mapping.collectionOf(namespace)))
        .append("pipeline", new BsonArray(pipeline))
        .append("cursor", new BsonDocument("batchSize", new BsonInt32(100_000)));
  }

  /** Reads documents with a pipeline. */
  @FunctionalInterface
  public interface Read<T> {
    /**
     * Reads the documents.
     *
     * @param first the first stage of the pipeline
     */
    T by(BsonDocument first) throws InterruptedException;
  }

  /**
   * Reads a random sample of documents with {@code $sample}. If the servers refuse this, they read
   * all documents and select with {@code $sampleRate}.
   *
   * @param count the approximate number of documents to return
   * @param of the approximate number of documents in the collection
   */
  public static <T> T take(int count, long of, Read<T> read) throws InterruptedException {
    try {
      return read.by(new BsonDocument("$sample", new BsonDocument("size", new BsonInt32(count))));
    } catch (RuntimeException failure) {
      if (!NO_SAMPLE.contains(code(failure))) {
        throw failure;
      }
      double rate = Math.min(1, (double) count / Math.max(1, of));
      return read.by(
          new BsonDocument("$match", new BsonDocument("$sampleRate", new BsonDouble(rate))));
    }
  }

  private static int code(RuntimeException failure) {
    if (failure instanceof CommandFailure refused) {
      return refused.code();
    }
    return failure instanceof MongoException refused ? refused.getCode() : 0;
  }

  /**
   * From sorted keys, chooses keys at even distances.
   *
   * @param points the most keys to choose
   * @param least the index of the first key that may be chosen
   */
  public static <T> List<T> quantiles(List<T> sorted, int points, int least) {
    List<T> chosen = new ArrayList<>();
    int last = least - 1;
    for (int i = 1; i <= points; i++) {
      int at = (int) ((long) i * sorted.size() / (points + 1));
      if (at > last && at < sorted.size()) {
        chosen.add(sorted.get(at));
        last = at;
      }
    }
    return chosen;
  }
}
