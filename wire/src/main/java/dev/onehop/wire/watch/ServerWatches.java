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
 * Watches servers one by one, with one client per server.
 *
 * <p>Thread-safe.
 */
public final class ServerWatches implements AutoCloseable {
  private final Function<ServerAddress, Watched> begin;
  private volatile Map<ServerAddress, Watched> open = Map.of();
  private boolean closed;

  /**
   * A watched server.
   *
   * @param watch its monitor
   * @param sinceNanos the start of the watch, by the caller's clock
   */
  record Watched(ServerMonitor watch, long sinceNanos) {
    List<ServerDescription> servers() {
      return watch.description().getServerDescriptions();
    }
  }

  /**
   * @param begin starts to watch a server
   */
  ServerWatches(Function<ServerAddress, Watched> begin) {
    this.begin = begin;
  }

  /**
   * Creates a watch with internal settings, and with frequent heartbeats, which soon notice a
   * server that returns.
   *
   * @param given the application's settings
   * @param connections the connections to the servers, which are reset when a server is lost; the
   *     caller closes them
   * @param changed called after every change, on threads that hold the driver's locks
   */
  public static ServerWatches of(
      MongoClientSettings given, Connections connections, Runnable changed) {
    MongoClientSettings own = SingleServer.soonHeard(InternalSettings.of(given));
    Servers.Watcher watcher = Servers.byTheDriver(connections);
    return new ServerWatches(
        server ->
            new Watched(
                watcher.watch(SingleServer.alone(own, server), changed), System.nanoTime()));
  }

  /**
   * Watches these servers, and stops watching all others.
   *
   * @param then runs when all wanted servers are watched, before the clients of the other servers
   *     are closed
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
    // The current thread may belong to a monitor, which must not close itself.
    gone.values().forEach(each -> Schedulers.boundedElastic().schedule(each.watch()::close));
  }

  /** The current state of the servers. */
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
