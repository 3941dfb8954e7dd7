package dev.onehop.shards.cluster;

import dev.onehop.core.table.RoutingTable;
import org.bson.BsonDocument;

/**
 * Adds shard versions to commands. By the version, a shard can refuse a command if the shard's
 * ranges have changed since the table was read.
 */
public enum Versions {
  /** Adds the version of the routing table. */
  ATTACHED {
    @Override
    public BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return format.attach(table, shard);
    }
  },
  /**
   * Adds nothing. Only a test uses this value. It shows that without versions, writes are lost and
   * reads return wrong results.
   */
  OMITTED {
    @Override
    public BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return new BsonDocument();
    }
  };

  public abstract BsonDocument of(VersionFormat format, RoutingTable table, String shard);
}
