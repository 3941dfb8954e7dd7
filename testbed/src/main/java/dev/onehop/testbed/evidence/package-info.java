/**
 * The servers' own figures about a collection: the operations of each shard, the hosts of the
 * routers that sent them, and the shards that store the documents. No figure relies on a client's
 * counts.
 *
 * @see dev.onehop.testbed.Testbed#evidence
 */
@NullMarked
package dev.onehop.testbed.evidence;

import org.jspecify.annotations.NullMarked;
