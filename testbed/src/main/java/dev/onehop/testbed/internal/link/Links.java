package dev.onehop.testbed.internal.link;

import dev.onehop.testbed.evidence.Traffic;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** All links of a run. Thread-safe. */
public final class Links implements AutoCloseable {
  private final Map<String, InetAddress> addressByHost;
  private final Distances distances;
  private final Callers callers;
  private final Transport transport;
  private final EventLoopGroup group;
  private final List<Link> links = new CopyOnWriteArrayList<>();
  private final Lateness lateness = new Lateness();
  private final ByteCounters counters = new ByteCounters();
  private volatile boolean delayed = true;

  /**
   * @param addressByHost the address of every host
   * @param callers identifies the callers of connections
   */
  public Links(Map<String, InetAddress> addressByHost, Distances distances, Callers callers) {
    this(addressByHost, distances, callers, Transport.best());
  }

  Links(
      Map<String, InetAddress> addressByHost,
      Distances distances,
      Callers callers,
      Transport transport) {
    this.addressByHost = Map.copyOf(addressByHost);
    this.distances = distances;
    this.callers = callers;
    this.transport = transport;
    this.group = transport.newGroup();
  }

  /**
   * Opens a link.
   *
   * @param at the server of the link
   * @param advertised the address to listen on
   * @param server the server's real address
   */
  public Link open(ConnectionEnd at, InetSocketAddress advertised, InetSocketAddress server) {
    Link link = new Link(this, at, advertised, server);
    links.add(link);
    return link;
  }

  /** Every open link. */
  public List<Link> all() {
    return List.copyOf(links);
  }

  /** Switches all delays on (the default) or off. Bytes in flight keep their due times. */
  public void setDelayed(boolean delayed) {
    this.delayed = delayed;
  }

  /** Netty's transport, {@code epoll} or {@code NIO}. */
  public String transportName() {
    return transport.name();
  }

  Transport transport() {
    return transport;
  }

  EventLoopGroup group() {
    return group;
  }

  /** The registry of the callers of connections. */
  public Callers callers() {
    return callers;
  }

  /**
   * The bytes that have passed through the links so far.
   *
   * @param regionOf returns the region of a host's name
   */
  public Traffic traffic(UnaryOperator<String> regionOf) {
    return counters.snapshot(regionOf);
  }

  ByteCounters counters() {
    return counters;
  }

  Lateness lateness() {
    return lateness;
  }

  InetAddress addressOf(String host) {
    return Objects.requireNonNull(addressByHost.get(host), host);
  }

  long oneWayNanos(String from, String to) {
    return delayed ? distances.roundTrip(from, to).toNanos() / 2 : 0;
  }

  @Override
  public void close() {
    links.forEach(Link::close);
    callers.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
