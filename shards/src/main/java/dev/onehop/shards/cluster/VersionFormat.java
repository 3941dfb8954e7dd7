package dev.onehop.shards.cluster;

import dev.onehop.core.table.ChunkVersion;
import dev.onehop.core.table.RoutingTable;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonObjectId;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.ObjectId;

/**
 * The encoding of {@code shardVersion}, by server version. Source: {@code
 * src/mongo/s/chunk_version.h} and {@code chunk_version.idl}; observed on 6.0.5.
 */
public enum VersionFormat {
  /** Up to 4.4: {@code [version, epoch]}. */
  EPOCH {
    @Override
    BsonValue encode(ObjectId epoch, BsonTimestamp timestamp, BsonTimestamp version) {
      return new BsonArray(List.of(version, new BsonObjectId(epoch)));
    }
  },
  /**
   * 5.0: {@code [version, epoch, timestamp]}. The format of {@link #ignored} is {@code [version,
   * epoch, true, timestamp]}.
   */
  ARRAY {
    @Override
    BsonValue encode(ObjectId epoch, BsonTimestamp timestamp, BsonTimestamp version) {
      BsonValue[] fields =
          epoch.equals(IGNORED_EPOCH)
              ? new BsonValue[] {version, new BsonObjectId(epoch), BsonBoolean.TRUE, timestamp}
              : new BsonValue[] {version, new BsonObjectId(epoch), timestamp};
      return new BsonArray(Arrays.asList(fields));
    }
  },
  /** From 6.0: a document. */
  DOCUMENT {
    @Override
    BsonValue encode(ObjectId epoch, BsonTimestamp timestamp, BsonTimestamp version) {
      return new BsonDocument("e", new BsonObjectId(epoch))
          .append("t", timestamp)
          .append("v", version);
    }
  };

  private static final ObjectId UNSHARDED_EPOCH = new ObjectId("000000000000000000000000");
  private static final ObjectId IGNORED_EPOCH = new ObjectId("00000000ffffffffffffffff");
  private static final BsonTimestamp ZERO = new BsonTimestamp(0, 0);
  private static final BsonTimestamp HIGHEST = new BsonTimestamp(-1L);
  private static final int WIRE_VERSION_5_0 = 13;
  private static final int WIRE_VERSION_6_0 = 17;

  abstract BsonValue encode(ObjectId epoch, BsonTimestamp timestamp, BsonTimestamp version);

  public static VersionFormat of(int maxWireVersion) {
    if (maxWireVersion >= WIRE_VERSION_6_0) {
      return DOCUMENT;
    }
    return maxWireVersion >= WIRE_VERSION_5_0 ? ARRAY : EPOCH;
  }

  /** The fields to add to a command that is routed to this shard by this routing table. */
  public BsonDocument attach(RoutingTable table, String shard) {
    if (table.isSharded()) {
      ChunkVersion version = table.shardVersion(shard);
      return new BsonDocument(
          "shardVersion",
          encode(
              version.epoch(),
              Objects.requireNonNullElse(version.timestamp(), ZERO),
              version.toTimestamp()));
    }
    return new BsonDocument("shardVersion", encode(UNSHARDED_EPOCH, ZERO, ZERO))
        .append("databaseVersion", table.databaseVersion().toBsonDocument());
  }

  /**
   * The version for a multi-document write that goes to every shard, as mongos sends it. A shard
   * accepts this version whatever its own version is.
   */
  public BsonDocument ignored() {
    return new BsonDocument("shardVersion", encode(IGNORED_EPOCH, HIGHEST, ZERO));
  }
}
