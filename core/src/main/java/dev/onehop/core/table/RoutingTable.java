package dev.onehop.core.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The location of a collection's documents: for a sharded collection, the shard of each range of
 * keys; for an unsharded collection, the database's primary shard. A snapshot of the config
 * database: immutable, thread-safe, and possibly out of date.
 *
 * <p>With a million chunks and string keys, a chunk takes about 50 bytes. The lookup of a key's
 * shard allocates nothing.
 */
public final class RoutingTable {
  private static final long NOT_AN_OWNER = -1;

  private final String namespace;
  private final @Nullable Sharded sharded;
  private final @Nullable Primary primary;

  /** The data that only a table with chunks has. */
  @SuppressWarnings("ArrayRecordComponent") // these records are never compared with equals
  private record Sharded(
      CollectionEntry collection,
      ChunkMap chunks,
      List<String> names,
      long[] highestVersions,
      SortedSet<String> owners,
      List<Zone> zones) {}

  private record Primary(String shard, DatabaseVersion version) {}

  private RoutingTable(String namespace, @Nullable Sharded sharded, @Nullable Primary primary) {
    this.namespace = namespace;
    this.sharded = sharded;
    this.primary = primary;
  }

  /**
   * The table of a collection listed in {@code config.collections}: sharded, or from 8.0 unsharded
   * and tracked.
   *
   * @param collection the collection's document of {@code config.collections}
   * @param chunks all its documents of {@code config.chunks}, in any order, in the layout of 4.4 or
   *     of 5.0
   * @throws InconsistentRoutingTableException if the chunks leave a gap, overlap, belong to another
   *     collection or have an unknown layout
   * @throws ShardKeyException if the shard key pattern is invalid, or the bounds of a chunk do not
   *     fit the pattern
   */
  public static RoutingTable of(BsonDocument collection, Iterable<BsonDocument> chunks) {
    return of(collection, chunks, Map.of());
  }

  /**
   * Like {@link #of(BsonDocument, Iterable)}, for a cluster that refers to shards by UUID.
   *
   * @param names see {@link ShardId#names}
   * @throws InconsistentRoutingTableException also if {@code names} lacks the shard of a chunk
   */
  public static RoutingTable of(
      BsonDocument collection, Iterable<BsonDocument> chunks, Map<ShardId, String> names) {
    RoutingTableBuilder builder = new RoutingTableBuilder(collection, names);
    chunks.forEach(builder::add);
    return builder.build();
  }

  static RoutingTable of(CollectionEntry entry, List<ChunkRow> rows, List<String> names) {
    ShardKeyPattern key = entry.key();
    ChunkMap.Bounds bounds = bound -> key.boundOf(bound).toJson();
    ChunkMap map;
    try {
      map = ChunkMap.of(rows, lowest(key), highest(key), bounds);
    } catch (InconsistentRoutingTableException e) {
      throw new InconsistentRoutingTableException(entry.namespace() + ": " + e.getMessage());
    }
    return sharded(entry, map, names, List.of());
  }

  /**
   * The table of a collection that is not in {@code config.collections}.
   *
   * @param namespace database and collection
   * @param database the database's document of {@code config.databases}
   * @param names see {@link ShardId#names}
   * @throws InconsistentRoutingTableException if the document has an unknown layout, or {@code
   *     names} lacks its primary shard
   */
  public static RoutingTable unsharded(
      String namespace, BsonDocument database, Map<ShardId, String> names) {
    String where = "config.databases";
    return new RoutingTable(
        namespace,
        null,
        new Primary(
            ShardId.of(database, "primary", where).name(names),
            DatabaseVersion.of(ConfigFields.document(database, "version", where))));
  }

  /**
   * Returns this table, in which the changed chunks replace the chunks that they overlap. The
   * result shares most of its memory with this table. Chunks older than {@link #version()} are
   * ignored, because this table already contains later changes.
   *
   * @param collection the collection's document of {@code config.collections}, from the same
   *     snapshot as the chunks
   * @param changedChunks the collection's documents of {@code config.chunks} with {@code lastmod}
   *     at or above this table's version. There is at least one, because the chunk with this
   *     version still exists or newer chunks have replaced it
   * @throws InconsistentRoutingTableException if there is no chunk at or above this version, the
   *     collection has another incarnation, or the chunks leave a gap
   */
  public RoutingTable merge(BsonDocument collection, Iterable<BsonDocument> changedChunks) {
    RoutingTableBuilder builder = new RoutingTableBuilder(this, collection, Map.of());
    changedChunks.forEach(builder::add);
    return builder.build();
  }

  /** The entry of a newer table of this collection. Fails if the entry has another incarnation. */
  CollectionEntry newer(BsonDocument collection) {
    CollectionEntry entry = CollectionEntry.of(collection);
    sharded().collection.requireSameIncarnation(entry);
    return entry;
  }

  List<String> shardNames() {
    return sharded().names;
  }

  boolean isOlderThan(long chunkVersion) {
    return Long.compareUnsigned(chunkVersion, highestVersion()) > 0;
  }

  /** This table with newer rows, which may have any order. */
  RoutingTable with(CollectionEntry entry, List<ChunkRow> newer, List<String> names) {
    Sharded old = sharded();
    newer.sort(ChunkRow.OLDEST_FIRST);
    try {
      ChunkMap merged = newer.isEmpty() ? old.chunks : old.chunks.merge(newer);
      return sharded(entry, merged, names, old.zones);
    } catch (InconsistentRoutingTableException e) {
      throw new InconsistentRoutingTableException(namespace + ": " + e.getMessage());
    }
  }

  private static RoutingTable sharded(
      CollectionEntry entry, ChunkMap chunks, List<String> names, List<Zone> zones) {
    long[] highest = new long[names.size()];
    Arrays.fill(highest, NOT_AN_OWNER);
    chunks.forEach(
        0,
        chunks.size() - 1,
        (shard, version) -> {
          if (highest[shard] == NOT_AN_OWNER || Long.compareUnsigned(version, highest[shard]) > 0) {
            highest[shard] = version;
          }
        });
    SortedSet<String> owners = new TreeSet<>();
    for (int i = 0; i < highest.length; i++) {
      if (highest[i] != NOT_AN_OWNER) {
        owners.add(names.get(i));
      }
    }
    return new RoutingTable(
        entry.namespace(),
        new Sharded(
            entry, chunks, names, highest, Collections.unmodifiableSortedSet(owners), zones),
        null);
  }

  /** Database and collection. */
  public String namespace() {
    return namespace;
  }

  /**
   * Whether the table has chunks. Commands then contain a shard version. A table without chunks has
   * a {@link #primaryShard()}, and commands contain the database version. The result is also true
   * for a tracked unsharded collection, for which {@link #isUnsplittable()} is true.
   */
  public boolean isSharded() {
    return sharded != null;
  }

  /** Whether this is a tracked unsharded collection of 8.0: it has one chunk, on any shard. */
  public boolean isUnsplittable() {
    return sharded != null && sharded.collection.unsplittable();
  }

  /**
   * The shard key pattern.
   *
   * @throws IllegalStateException if this table has no chunks; all methods on chunks throw it
   */
  public ShardKeyPattern shardKeyPattern() {
    return sharded().collection.key();
  }

  /** The collection's UUID, null if the table has no chunks or the server omits the UUID (4.4). */
  public @Nullable BsonBinary uuid() {
    return sharded == null ? null : sharded.collection.uuid();
  }

  /** The default collation of operations; null for the simple collation, or if it is unknown. */
  public @Nullable BsonDocument defaultCollation() {
    BsonDocument collation = sharded == null ? null : sharded.collection.defaultCollation();
    return collation == null ? null : collation.clone();
  }

  /** Whether operations have a default collation that is not the simple collation. */
  public boolean hasDefaultCollation() {
    return sharded != null && sharded.collection.defaultCollation() != null;
  }

  /** The number of chunks, at least one. */
  public int chunkCount() {
    return sharded().chunks.size();
  }

  /**
   * A chunk by its index in key order.
   *
   * @throws IndexOutOfBoundsException unless {@code 0 <= index < chunkCount()}
   */
  public Chunk chunk(int index) {
    Sharded table = sharded();
    Objects.checkIndex(index, table.chunks.size());
    ChunkRow row = table.chunks.row(index);
    BsonDocument max =
        index + 1 < table.chunks.size() ? bound(table.chunks.row(index + 1)) : upperEnd();
    return new Chunk(bound(row), max, table.names.get(row.shard()), toChunkVersion(row.version()));
  }

  /** The index of the chunk with a key of this table's {@link #shardKeyPattern()}. */
  public int chunkIndexOf(byte[] key) {
    return sharded().chunks.indexOf(key);
  }

  /** The shard that owns a key of this table's {@link #shardKeyPattern()}. */
  public String shardOf(byte[] key) {
    Sharded table = sharded();
    return table.names.get(table.chunks.shardOf(key));
  }

  /** The owner of a chunk. */
  public String shardOfChunk(int index) {
    Sharded table = sharded();
    return table.names.get(table.chunks.shard(Objects.checkIndex(index, table.chunks.size())));
  }

  /**
   * The index of the last chunk with a key below {@code bound}; 0 if there is none. The bound may
   * be any bytes, which are compared with the bytes of keys.
   */
  public int lastChunkBelow(byte[] bound) {
    return sharded().chunks.lastBelow(bound);
  }

  /**
   * The shards that own chunks {@code from..to}, both included.
   *
   * @throws IndexOutOfBoundsException unless {@code 0 <= from} and {@code to < chunkCount()}
   */
  public SortedSet<String> shardsOfChunks(int from, int to) {
    Sharded table = sharded();
    Objects.checkFromToIndex(from, to + 1, table.chunks.size());
    if (from == 0 && to == table.chunks.size() - 1) {
      return table.owners;
    }
    boolean[] seen = new boolean[table.names.size()];
    table.chunks.forEach(from, to, (shard, version) -> seen[shard] = true);
    SortedSet<String> shards = new TreeSet<>();
    for (int i = 0; i < seen.length; i++) {
      if (seen[i]) {
        shards.add(table.names.get(i));
      }
    }
    return shards;
  }

  /** The shards that own at least one chunk; for a table without chunks, the primary shard. */
  public SortedSet<String> shards() {
    return sharded == null ? new TreeSet<>(List.of(primaryShard())) : sharded.owners;
  }

  /** The collection's version: the highest version of its chunks. */
  public ChunkVersion version() {
    return toChunkVersion(highestVersion());
  }

  private long highestVersion() {
    long highest = 0;
    for (long version : sharded().highestVersions) {
      if (version != NOT_AN_OWNER && Long.compareUnsigned(version, highest) > 0) {
        highest = version;
      }
    }
    return highest;
  }

  /** The highest version of a shard's chunks; major and minor are 0 if it owns none. */
  public ChunkVersion shardVersion(String shard) {
    Sharded table = sharded();
    int index = table.names.indexOf(shard);
    long version = index < 0 ? NOT_AN_OWNER : table.highestVersions[index];
    return toChunkVersion(version == NOT_AN_OWNER ? 0 : version);
  }

  /**
   * The database's primary shard.
   *
   * @throws IllegalStateException if this table has chunks
   */
  public String primaryShard() {
    return primary().shard;
  }

  /**
   * The version of the database's primary shard.
   *
   * @throws IllegalStateException if this table has chunks
   */
  public DatabaseVersion databaseVersion() {
    return primary().version;
  }

  /** The collection's zones, if they were set by {@link #withZones}. */
  public List<Zone> zones() {
    return sharded == null ? List.of() : sharded.zones;
  }

  /** This table with the zones of the collection's documents of {@code config.tags}. */
  public RoutingTable withZones(Iterable<BsonDocument> tags) {
    Sharded old = sharded();
    List<Zone> zones = new ArrayList<>();
    tags.forEach(tag -> zones.add(Zone.of(tag)));
    return new RoutingTable(
        namespace,
        new Sharded(
            old.collection,
            old.chunks,
            old.names,
            old.highestVersions,
            old.owners,
            List.copyOf(zones)),
        null);
  }

  private BsonDocument bound(ChunkRow row) {
    return row.verbatimMin() != null
        ? row.verbatimMin().clone()
        : shardKeyPattern().boundOf(row.min());
  }

  private BsonDocument upperEnd() {
    return shardKeyPattern().boundOf(highest(shardKeyPattern()));
  }

  private static byte[] lowest(ShardKeyPattern key) {
    return end(key, new BsonMinKey(), new BsonMaxKey());
  }

  private static byte[] highest(ShardKeyPattern key) {
    return end(key, new BsonMaxKey(), new BsonMinKey());
  }

  private static byte[] end(ShardKeyPattern key, BsonValue ascending, BsonValue descending) {
    BsonDocument bound = new BsonDocument();
    for (ShardKeyField field : key.fields()) {
      bound.append(field.path().toString(), field.descending() ? descending : ascending);
    }
    return key.keyOfBound(bound);
  }

  private ChunkVersion toChunkVersion(long version) {
    CollectionEntry collection = sharded().collection;
    return new ChunkVersion(
        collection.epoch(), collection.timestamp(), (int) (version >>> 32), (int) version);
  }

  private Sharded sharded() {
    if (sharded == null) {
      throw new IllegalStateException(namespace + " is not sharded: it has no chunks");
    }
    return sharded;
  }

  private Primary primary() {
    if (primary == null) {
      throw new IllegalStateException(namespace + " is sharded: its table names no primary shard");
    }
    return primary;
  }
}
