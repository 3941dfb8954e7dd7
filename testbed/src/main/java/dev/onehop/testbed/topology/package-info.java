/** What a cluster is made of: hosts in regions, shards, and the round trips between them. */
@NullMarked
package dev.onehop.testbed.topology;

import org.jspecify.annotations.NullMarked;
