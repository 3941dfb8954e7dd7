package dev.onehop.testbed.internal.cluster;

import org.bson.BsonDocument;

/** A chunk from config.chunks: the shard owns [min, max). */
record ChunkRange(BsonDocument min, BsonDocument max, String shard) {}
