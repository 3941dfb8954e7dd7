package dev.onehop.core.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Builds a collection's routing table from single documents of {@code config.chunks}. It keeps
 * about a hundred bytes per chunk.
 *
 * <p>If chunks are added in the order of their versions, chunks may change during the read. A chunk
 * that changes is read again later, with a higher version, and replaces the earlier chunk. Not
 * thread-safe.
 */
public final class RoutingTableBuilder {
  private final CollectionEntry entry;
  private final @Nullable RoutingTable known;
  private final ShardNames names;
  private final ChunkReader reader;
  private final List<ChunkRow> rows = new ArrayList<>();
  private @Nullable BsonTimestamp newest;

  /**
   * Creates a builder for a whole table.
   *
   * @param collection the collection's document of {@code config.collections}
   * @param names see {@link ShardId#names}
   * @throws InconsistentRoutingTableException if the document has an unknown layout
   * @throws ShardKeyException if the shard key pattern is invalid
   */
  public RoutingTableBuilder(BsonDocument collection, Map<ShardId, String> names) {
    this(CollectionEntry.of(collection), null, List.of(), names);
  }

  /**
   * Creates a builder for a newer table from changed chunks, as in {@link RoutingTable#merge}.
   *
   * @param known the older table
   * @param collection the collection's document of {@code config.collections}
   * @param names see {@link ShardId#names}
   * @throws InconsistentRoutingTableException if the collection has another incarnation
   */
  public RoutingTableBuilder(
      RoutingTable known, BsonDocument collection, Map<ShardId, String> names) {
    this(known.newer(collection), known, known.shardNames(), names);
  }

  private RoutingTableBuilder(
      CollectionEntry entry,
      @Nullable RoutingTable known,
      List<String> knownNames,
      Map<ShardId, String> names) {
    this.entry = entry;
    this.known = known;
    this.names = new ShardNames(knownNames);
    this.reader = new ChunkReader(entry, names, this.names);
  }

  /**
   * Adds a chunk. The document is not kept.
   *
   * @param chunk the chunk, with at least the fields min, max, shard, lastmod, and uuid or ns
   * @throws InconsistentRoutingTableException if the chunk belongs to another collection, has an
   *     unknown layout, or is on an unknown shard
   * @throws ShardKeyException if the chunk's bounds do not fit the shard key pattern
   */
  public void add(BsonDocument chunk) {
    ChunkRow row = reader.read(chunk);
    if (newest == null || Long.compareUnsigned(row.version(), newest.getValue()) > 0) {
      newest = new BsonTimestamp(row.version());
    }
    if (known == null || known.isOlderThan(row.version())) {
      rows.add(row);
    }
  }

  /** The highest {@code lastmod} so far, null before the first chunk. */
  public @Nullable BsonTimestamp newest() {
    return newest;
  }

  /**
   * Builds the table.
   *
   * @throws InconsistentRoutingTableException if the chunks leave a gap, or overlap with equal
   *     versions, or no chunk has the known table's version or a later version
   */
  public RoutingTable build() {
    if (known == null) {
      return RoutingTable.of(entry, rows, names.names());
    }
    if (newest == null || known.version().toTimestamp().compareTo(newest) > 0) {
      throw new InconsistentRoutingTableException(
          entry.namespace()
              + ": no chunk has the known version or a later version: "
              + known.version());
    }
    return known.with(entry, rows, names.names());
  }
}
