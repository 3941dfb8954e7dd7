package dev.onehop.shards.cluster;

import dev.onehop.core.table.RoutingTable;
import org.bson.BsonDocument;

/** What commands carry, so that a shard whose ownership changed refuses them. */
public enum Versions {
  /** The version of the table that sent them there. */
  ATTACHED {
    @Override
    public BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return format.attach(table, shard);
    }
  },
  /** Nothing, which loses and misreads data: for the test that shows it. */
  OMITTED {
    @Override
    public BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return new BsonDocument();
    }
  };

  public abstract BsonDocument of(VersionFormat format, RoutingTable table, String shard);
}
