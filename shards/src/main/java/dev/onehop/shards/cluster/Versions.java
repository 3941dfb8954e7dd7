package dev.onehop.shards.cluster;

import dev.onehop.core.table.RoutingTable;
import org.bson.BsonDocument;

/** The versions in commands, by which a shard refuses a command after its ownership has changed. */
public enum Versions {
  /** Adds the version of the routing table. */
  ATTACHED {
    @Override
    public BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return format.attach(table, shard);
    }
  },
  /** Adds nothing, which loses and misreads data: for the test that shows it. */
  OMITTED {
    @Override
    public BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return new BsonDocument();
    }
  };

  public abstract BsonDocument of(VersionFormat format, RoutingTable table, String shard);
}
