/**
 * The servers' own figures about a collection: the operations that each shard executed, the hosts
 * of the routers that they came from, and the shards of the documents. No figure relies on a
 * client's counts.
 *
 * @see dev.onehop.testbed.Testbed#evidence
 */
@NullMarked
package dev.onehop.testbed.evidence;

import org.jspecify.annotations.NullMarked;
