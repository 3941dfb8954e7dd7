/**
 * What the servers themselves say about a collection: which shard executed how many operations,
 * from which hosts' routers these came, and where documents lie. Nothing here relies on what a
 * client counts.
 *
 * @see dev.onehop.testbed.Testbed#evidence
 */
@NullMarked
package dev.onehop.testbed.evidence;

import org.jspecify.annotations.NullMarked;
