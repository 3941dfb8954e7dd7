package dev.onehop.testbed.internal.cluster;

import org.bson.BsonDocument;

/** A chunk as config.chunks has it: [min, max) lies on the shard. */
record ChunkRange(BsonDocument min, BsonDocument max, String shard) {}
