package dev.onehop.routing.internal.direct;

import dev.onehop.core.table.RoutingTable;
import org.bson.BsonDocument;

/** What commands carry, so that a shard whose ownership changed refuses them. */
enum Versions {
  /** The version of the table that sent them there. */
  ATTACHED {
    @Override
    BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return format.attach(table, shard);
    }

    @Override
    BsonDocument ignored(VersionFormat format) {
      return format.ignored();
    }
  },
  /** Nothing, which loses and misreads data: for the test that shows it. */
  OMITTED {
    @Override
    BsonDocument of(VersionFormat format, RoutingTable table, String shard) {
      return new BsonDocument();
    }

    @Override
    BsonDocument ignored(VersionFormat format) {
      return new BsonDocument();
    }
  };

  abstract BsonDocument of(VersionFormat format, RoutingTable table, String shard);

  abstract BsonDocument ignored(VersionFormat format);
}
