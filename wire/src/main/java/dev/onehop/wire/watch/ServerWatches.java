package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerDescription;
import dev.onehop.wire.connection.Connections;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import reactor.core.scheduler.Schedulers;

/**
 * Watches servers one by one, each by a client of its own.
 *
 * <p>Thread-safe.
 */
public final class ServerWatches implements AutoCloseable {
  private final Function<ServerAddress, Watched> begin;
  private volatile Map<ServerAddress, Watched> open = Map.of();
  private boolean closed;

  /**
   * What is watched, and since when.
   *
   * @param sinceNanos by the clock of who watches
   */
  record Watched(ServerMonitor watch, long sinceNanos) {
    List<ServerDescription> servers() {
      return watch.description().getServerDescriptions();
    }
  }

  /**
   * @param begin begins to watch a server
   */
  ServerWatches(Function<ServerAddress, Watched> begin) {
    this.begin = begin;
  }

  /**
   * With settings of our own, and such that a server that comes back is noticed soon.
   *
   * @param connections to the servers, which are reset when one is lost; stay the caller's
   * @param changed called after something has changed, on threads that hold the driver's locks
   */
  public static ServerWatches of(
      MongoClientSettings asked, Connections connections, Runnable changed) {
    MongoClientSettings own = SingleServer.soonHeard(InternalSettings.of(asked));
    Servers.Watcher watcher = Servers.byTheDriver(connections);
    return new ServerWatches(
        server ->
            new Watched(
                watcher.watch(SingleServer.alone(own, server), changed), System.nanoTime()));
  }

  /**
   * Watches these servers from now on, and no others.
   *
   * @param then done when all of them are watched, and those of before still are
   */
  public void follow(Collection<ServerAddress> wanted, Runnable then) {
    Map<ServerAddress, Watched> gone;
    synchronized (this) {
      if (closed) {
        return;
      }
      Map<ServerAddress, Watched> next = new HashMap<>(open);
      wanted.forEach(server -> next.computeIfAbsent(server, begin));
      open = Map.copyOf(next);
      then.run();
      gone = new HashMap<>(next);
      next.keySet().retainAll(Set.copyOf(wanted));
      gone.keySet().removeAll(next.keySet());
      open = Map.copyOf(next);
    }
    // Not on a monitor's thread, which may be the caller's.
    gone.values().forEach(each -> Schedulers.boundedElastic().schedule(each.watch()::close));
  }

  /** What is known of the servers. */
  public Stream<ServerDescription> servers() {
    return open.values().stream().flatMap(each -> each.servers().stream());
  }

  Map<ServerAddress, Watched> open() {
    return open;
  }

  void checkNow() {
    open.values().forEach(each -> each.watch().checkNow());
  }

  @Override
  public void close() {
    Collection<Watched> last;
    synchronized (this) {
      closed = true;
      last = open.values();
      open = Map.of();
    }
    last.forEach(each -> each.watch().close());
  }
}
