package dev.onehop.shards.command;

import dev.onehop.shards.catalog.RoutingCatalog;
import java.time.Duration;

/**
 * How a router keeps what it knows of the cluster fresh.
 *
 * @param every how often the shards and the default concerns are read again; routing tables are
 *     when a shard refuses one
 * @param listener gets every refresh of a routing table
 */
public record Refreshes(Duration every, RoutingCatalog.RefreshListener listener) {}
