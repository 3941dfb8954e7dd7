package dev.onehop.core.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Builds a collection's routing table from documents of {@code config.chunks} that come one after
 * the other, and keeps what it needs of them in some hundred bytes each.
 *
 * <p>Chunks that come in the order of their versions may be read while others change: what changes
 * meanwhile comes once more, later and with a higher version, and displaces what was read before.
 * Not thread-safe.
 */
public final class RoutingTableBuilder {
  private final CollectionEntry entry;
  private final @Nullable RoutingTable known;
  private final ShardNames names;
  private final ChunkReader reader;
  private final List<ChunkRow> rows = new ArrayList<>();
  private @Nullable BsonTimestamp newest;

  /**
   * A builder of a whole table.
   *
   * @param collection the collection's document of {@code config.collections}
   * @param names see {@link ShardId#names}
   * @throws InconsistentRoutingTableException if that has an unknown layout
   * @throws ShardKeyException if the shard key pattern is none
   */
  public RoutingTableBuilder(BsonDocument collection, Map<ShardId, String> names) {
    this(CollectionEntry.of(collection), null, List.of(), names);
  }

  /**
   * A builder of a newer table from the chunks that have changed, as {@link RoutingTable#merge}
   * describes it.
   *
   * @param known the older table
   * @param collection the collection's document of {@code config.collections}
   * @param names see {@link ShardId#names}
   * @throws InconsistentRoutingTableException if the collection is another incarnation
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
   * Adds a chunk, which is not kept.
   *
   * @param chunk with the fields min, max, shard, lastmod, and uuid or ns; or more
   * @throws InconsistentRoutingTableException if it belongs to another collection or has an unknown
   *     layout, or is on an unknown shard
   * @throws ShardKeyException if its bounds don't fit the shard key pattern
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
   * The table.
   *
   * @throws InconsistentRoutingTableException if the chunks leave a gap, or overlap where none of
   *     them is newer, or none has the known table's version or a later one
   */
  public RoutingTable build() {
    if (known == null) {
      return RoutingTable.of(entry, rows, names.names());
    }
    if (newest == null || known.version().toTimestamp().compareTo(newest) > 0) {
      throw new InconsistentRoutingTableException(
          entry.namespace() + ": no chunk at or above the known version " + known.version());
    }
    return known.with(entry, rows, names.names());
  }
}
