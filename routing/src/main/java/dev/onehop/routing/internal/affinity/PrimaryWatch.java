package dev.onehop.routing.internal.affinity;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerDescription;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.watch.ServerWatches;
import dev.onehop.wire.watch.SingleServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Follows the primary of each shard by monitoring one member at a time: the driver's monitor
 * reports an election within moments. Each watched shard takes two sockets. If no member can be
 * reached, the primary stays unknown.
 *
 * <p>Thread-safe.
 */
public final class PrimaryWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PrimaryWatch.class);
  private static final Duration BEFORE_NEXT_MEMBER = Duration.ofMillis(500);

  private final Runnable changed;
  private final ServerWatches watches;
  private final Map<String, ServerAddressName> primaries = new ConcurrentHashMap<>();

  /** The members by shard id; the first member of each shard is monitored. */
  private volatile Map<String, List<ServerAddress>> shards = Map.of();

  /**
   * @param connections the connections of the client that watches
   * @param changed called on another thread after a primary has changed
   */
  public PrimaryWatch(MongoClientSettings settings, Connections connections, Runnable changed) {
    this.changed = changed;
    this.watches = ServerWatches.of(settings, connections, this::look);
  }

  /** The known primaries by shard id, under the names that members use for each other. */
  public Map<String, ServerAddressName> primaries() {
    return Map.copyOf(primaries);
  }

  /** Watches these shards, given by their members, and stops watching all others. */
  public synchronized void watch(Map<String, List<ServerAddressName>> wanted) {
    Map<String, List<ServerAddress>> next = new HashMap<>();
    wanted.forEach(
        (shard, names) -> {
          List<ServerAddress> members = names.stream().map(SingleServer::address).toList();
          List<ServerAddress> known = shards.getOrDefault(shard, List.of());
          boolean same = Set.copyOf(known).equals(Set.copyOf(members));
          next.put(shard, same ? known : members);
          if (!same) {
            primaries.remove(shard);
          }
        });
    primaries.keySet().retainAll(next.keySet());
    follow(next);
  }

  private void follow(Map<String, List<ServerAddress>> next) {
    Set<ServerAddress> asked =
        next.values().stream().map(members -> members.get(0)).collect(Collectors.toSet());
    watches.follow(asked, () -> shards = Map.copyOf(next));
    look();
  }

  @Override
  public void close() {
    watches.close();
  }

  private void look() {
    Map<ServerAddress, ServerDescription> known =
        watches.servers().collect(Collectors.toMap(ServerDescription::getAddress, each -> each));
    shards.forEach(
        (shard, members) -> {
          ServerDescription now = known.get(members.get(0));
          if (now != null && now.isOk() && now.getPrimary() != null) {
            ServerAddressName primary = ServerAddressName.parse(now.getPrimary());
            if (!primary.equals(primaries.put(shard, primary))) {
              log.debug("{}: the primary is {}", shard, primary);
              changed.run();
            }
          } else if (now != null && !now.isOk() && now.getException() != null) {
            // The monitored member does not reply, so another member is monitored.
            Mono.delay(BEFORE_NEXT_MEMBER, Schedulers.boundedElastic())
                .subscribe(later -> tryNext(shard, members));
          }
        });
  }

  private synchronized void tryNext(String shard, List<ServerAddress> failed) {
    if (failed.equals(shards.get(shard))) {
      Map<String, List<ServerAddress>> next = new HashMap<>(shards);
      next.computeIfPresent(
          shard,
          (id, members) -> {
            List<ServerAddress> others = new ArrayList<>(members);
            Collections.rotate(others, -1);
            return others;
          });
      follow(next);
    }
  }
}
