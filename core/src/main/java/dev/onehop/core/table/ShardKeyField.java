package dev.onehop.core.table;

import dev.onehop.core.bson.BsonPath;

/**
 * One field of a shard key pattern.
 *
 * @param path the field's path in a document
 * @param hashed whether the key contains the value's hash instead of the value
 * @param descending whether greater values come first
 */
public record ShardKeyField(BsonPath path, boolean hashed, boolean descending) {}
