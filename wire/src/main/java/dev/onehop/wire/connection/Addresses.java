package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/**
 * Finds the addresses of servers. A lookup may block for a long time, so lookups run on separate
 * threads. There is one lookup at a time per name, so a name that cannot be resolved occupies only
 * one thread.
 *
 * <p>Thread-safe.
 */
public final class Addresses {
  private static final Executor LOOKUPS =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          10,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          new DefaultThreadFactory("onehop-lookup", true));

  private final Lookup lookup;
  private final Map<ServerAddressName, InetSocketAddress> ways;
  private final Map<String, CompletableFuture<List<InetAddress>>> underWay =
      new ConcurrentHashMap<>();

  /** Resolves a name. May block. */
  @FunctionalInterface
  public interface Lookup {
    /** The lookup of the Java runtime. */
    Lookup SYSTEM = host -> List.of(InetAddress.getAllByName(host));

    /** The host's addresses, in the order of connection attempts. */
    List<InetAddress> lookUp(String host) throws UnknownHostException;
  }

  /**
   * @param ways fixed addresses of servers, used instead of a lookup
   */
  public Addresses(Lookup lookup, Map<ServerAddressName, InetSocketAddress> ways) {
    this.lookup = lookup;
    this.ways = Map.copyOf(ways);
  }

  /** A server's addresses, in the order of connection attempts. */
  Mono<List<InetSocketAddress>> of(ServerAddressName server) {
    InetSocketAddress way = ways.get(server);
    return way != null
        ? Mono.just(List.of(way))
        : Mono.fromFuture(() -> underWay.computeIfAbsent(server.host(), this::lookUp), true)
            .map(found -> withPort(found, server.port()));
  }

  private static List<InetSocketAddress> withPort(List<InetAddress> found, int port) {
    return found.stream().map(each -> new InetSocketAddress(each, port)).toList();
  }

  private CompletableFuture<List<InetAddress>> lookUp(String host) {
    CompletableFuture<List<InetAddress>> result = new CompletableFuture<>();
    LOOKUPS.execute(
        () -> {
          List<InetAddress> found;
          try {
            found = lookup.lookUp(host);
          } catch (Throwable e) {
            underWay.remove(host);
            result.completeExceptionally(e);
            return;
          }
          underWay.remove(host);
          result.complete(found);
        });
    return result;
  }
}
