package dev.onehop.shards.command;

import dev.onehop.shards.catalog.RoutingCatalog;
import java.time.Duration;

/**
 * The refreshes of a router's metadata.
 *
 * @param every the interval of refreshes of the shards and the default concerns; routing tables are
 *     refreshed when a shard refuses a command as stale
 * @param listener called for every refresh of a routing table
 */
public record Refreshes(Duration every, RoutingCatalog.RefreshListener listener) {}
