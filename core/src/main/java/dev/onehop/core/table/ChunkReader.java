package dev.onehop.core.table;

import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/**
 * Converts documents of {@code config.chunks} into rows, in both layouts: by {@code ns} and {@code
 * lastmodEpoch} up to 4.4, by {@code uuid} from 5.0.
 */
final class ChunkReader {
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();
  private static final String WHERE = "config.chunks";

  private final CollectionEntry collection;
  private final Map<ShardId, String> names;
  private final ShardNames shards;

  ChunkReader(CollectionEntry collection, Map<ShardId, String> names, ShardNames shards) {
    this.collection = collection;
    this.names = names;
    this.shards = shards;
  }

  ChunkRow read(BsonDocument read) {
    // A raw document is decoded as a whole. Otherwise each field would need a search, and the
    // stored parts would keep all bytes of the document in memory.
    BsonDocument chunk = read instanceof RawBsonDocument raw ? raw.decode(CODEC) : read;
    requireOfCollection(chunk);
    BsonDocument min = ConfigFields.document(chunk, "min", WHERE);
    byte[] minKey = collection.key().keyOfBound(min);
    BsonTimestamp lastmod = ConfigFields.timestamp(chunk, "lastmod", WHERE);
    return new ChunkRow(
        minKey,
        collection.key().keyOfBound(ConfigFields.document(chunk, "max", WHERE)),
        shards.indexOf(ShardId.of(chunk, "shard", WHERE).name(names)),
        lastmod.getValue(),
        verbatim(min, minKey));
  }

  private void requireOfCollection(BsonDocument chunk) {
    BsonValue uuid = chunk.get("uuid");
    BsonValue ns = chunk.get("ns");
    if (uuid == null && ns == null) {
      throw new InconsistentRoutingTableException(
          "unknown layout of config.chunks: neither uuid nor ns in " + chunk.toJson());
    }
    if (uuid != null && collection.uuid() != null && !uuid.equals(collection.uuid())) {
      throw anotherCollection(chunk);
    }
    if (uuid == null
        && ns != null
        && !(ns.isString() && ns.asString().getValue().equals(collection.namespace()))) {
      throw anotherCollection(chunk);
    }
    BsonValue epoch = chunk.get("lastmodEpoch");
    if (epoch != null
        && !(epoch.isObjectId() && epoch.asObjectId().getValue().equals(collection.epoch()))) {
      throw new InconsistentRoutingTableException(
          "a chunk of another epoch than " + collection.epoch() + ": " + chunk.toJson());
    }
  }

  private InconsistentRoutingTableException anotherCollection(BsonDocument chunk) {
    return new InconsistentRoutingTableException(
        "a chunk of another collection than " + collection.namespace() + ": " + chunk.toJson());
  }

  private @Nullable BsonDocument verbatim(BsonDocument min, byte[] minKey) {
    boolean hashed = collection.key().isHashed();
    for (Map.Entry<String, BsonValue> entry : min.entrySet()) {
      if (!decodesToItself(entry.getValue(), hashed)) {
        return collection.key().boundOf(minKey).equals(min) ? null : min.clone();
      }
    }
    return null;
  }

  /**
   * Whether a value certainly decodes to itself. Most bounds pass this cheap check, and need no
   * decoding.
   */
  private static boolean decodesToItself(BsonValue value, boolean hashed) {
    return switch (value.getBsonType()) {
      case STRING, OBJECT_ID, NULL, MIN_KEY, MAX_KEY, DATE_TIME, TIMESTAMP, BOOLEAN -> true;
      case INT32 -> !hashed;
      default -> false;
    };
  }
}
