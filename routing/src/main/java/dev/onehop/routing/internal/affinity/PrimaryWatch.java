package dev.onehop.routing.internal.affinity;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.ServerDescriptionChangedEvent;
import com.mongodb.event.ServerListener;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.DriverClient;
import dev.onehop.wire.watch.SingleServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Follows which member of a shard is its primary, by asking one member at a time: the driver's
 * monitor hears of an election within moments. That takes two sockets per watched shard. Where the
 * members can't be reached from here, the primary stays unknown.
 *
 * <p>Thread-safe.
 */
public final class PrimaryWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PrimaryWatch.class);
  private static final Duration BEFORE_NEXT_MEMBER = Duration.ofMillis(500);

  private final MongoClientSettings settings;
  private final Runnable changed;
  private final Map<String, ServerAddressName> primaries = new ConcurrentHashMap<>();
  private final Map<String, Watched> watched = new HashMap<>();
  private boolean closed;

  /**
   * @param changed called on another thread after a primary moved
   */
  public PrimaryWatch(MongoClientSettings settings, Runnable changed) {
    this.settings = settings;
    this.changed = changed;
  }

  /**
   * The primaries that are known, by shard id, under the names by which members know each other.
   */
  public Map<String, ServerAddressName> primaries() {
    return Map.copyOf(primaries);
  }

  /** Watches these shards from now on, by their members, and no others. */
  public synchronized void watch(Map<String, List<ServerAddressName>> shards) {
    List<String> gone = new ArrayList<>();
    watched.forEach(
        (shard, watch) -> {
          if (!watch.members.equals(shards.get(shard))) {
            gone.add(shard);
          }
        });
    gone.forEach(this::forget);
    if (!closed) {
      shards.forEach(
          (shard, members) ->
              watched.computeIfAbsent(shard, id -> new Watched(id, members)).connect());
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    Set.copyOf(watched.keySet()).forEach(this::forget);
  }

  private void forget(String shard) {
    Watched gone = watched.remove(shard);
    if (gone != null) {
      gone.disconnect();
    }
    primaries.remove(shard);
  }

  private synchronized void tryNext(Watched watch, ServerAddress failed) {
    if (watched.get(watch.shard) == watch && watch.isAsking(failed)) {
      watch.disconnect();
      watch.asked = (watch.asked + 1) % watch.members.size();
      watch.connect();
    }
  }

  private final class Watched implements ServerListener {
    private final String shard;
    private final List<ServerAddressName> members;
    private int asked;
    private @Nullable DriverClient client;

    Watched(String shard, List<ServerAddressName> members) {
      this.shard = shard;
      this.members = List.copyOf(members);
    }

    private boolean isAsking(ServerAddress member) {
      return SingleServer.address(members.get(asked)).equals(member);
    }

    void connect() {
      if (client == null) {
        client = SingleServer.connect(settings, members.get(asked), this, 0);
      }
    }

    void disconnect() {
      if (client != null) {
        client.close();
        client = null;
      }
    }

    @Override
    public void serverDescriptionChanged(ServerDescriptionChangedEvent event) {
      ServerDescription now = event.getNewDescription();
      String name = now.getPrimary();
      if (now.isOk() && name != null) {
        ServerAddressName primary = ServerAddressName.parse(name);
        if (!primary.equals(primaries.put(shard, primary))) {
          log.debug("{}: the primary is {}", shard, primary);
          changed.run();
        }
      } else if (!now.isOk() && now.getException() != null) {
        // Another member knows better.
        Mono.delay(BEFORE_NEXT_MEMBER, Schedulers.boundedElastic())
            .subscribe(later -> tryNext(this, now.getAddress()));
      }
    }
  }
}
