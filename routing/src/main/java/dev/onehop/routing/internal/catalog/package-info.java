/** What the client knows of the cluster: its shards, its routers and the routing tables. */
@NullMarked
package dev.onehop.routing.internal.catalog;

import org.jspecify.annotations.NullMarked;
