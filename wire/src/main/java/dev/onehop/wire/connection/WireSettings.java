package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.handshake.HandshakeSettings;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.proxy.ProxyHandler;
import io.netty.handler.proxy.Socks5ProxyHandler;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What connections are made of. Immutable.
 *
 * @param sockets how to connect
 * @param pool how many connections, and for how long
 * @param tls makes the TLS engines, null for no TLS
 * @param handshake what they say of the client
 * @param compressors those that the handshake offers
 * @param addresses where the servers are
 * @param sharing which connections requests share, null for none
 */
public record WireSettings(
    Sockets sockets,
    PoolLimits pool,
    @Nullable Tls tls,
    HandshakeSettings handshake,
    List<Compressor> compressors,
    Addresses addresses,
    @Nullable Sharing sharing) {

  public WireSettings {
    compressors = List.copyOf(compressors);
  }

  /**
   * Sockets.
   *
   * @param channelClass the class of channels, which must fit the event loops
   * @param localAddress the address to connect from (port 0), null for the system's choice
   * @param connectTimeout for the name, TCP and TLS, each; zero for any time
   * @param sendBufferBytes 0 for the system's choice
   * @param receiveBufferBytes 0 for the system's choice
   * @param proxy null to connect to the servers themselves
   */
  public record Sockets(
      Class<? extends SocketChannel> channelClass,
      @Nullable SocketAddress localAddress,
      Duration connectTimeout,
      int sendBufferBytes,
      int receiveBufferBytes,
      @Nullable Proxy proxy) {

    /** Without proxy, and with the system's buffers. */
    public static Sockets of(Duration connectTimeout) {
      return new Sockets(EventLoops.socketChannelClass(), null, connectTimeout, 0, 0, null);
    }
  }

  /**
   * A SOCKS5 proxy (RFC 1928), which looks up the servers' names.
   *
   * @param user null for a proxy that wants no password (RFC 1929)
   */
  public record Proxy(ServerAddressName address, @Nullable String user, @Nullable String password) {
    /**
     * What connects a channel through the proxy.
     *
     * @param resolved the proxy's own address
     * @param connectTimeout for the proxy's part, zero for any time
     */
    public ProxyHandler newHandler(InetSocketAddress resolved, Duration connectTimeout) {
      ProxyHandler handler = new Socks5ProxyHandler(resolved, user, password);
      handler.setConnectTimeoutMillis(connectTimeout.toMillis());
      return handler;
    }

    /** What the proxy is to connect to: the address if the server has no name but that. */
    public static InetSocketAddress destination(ServerAddressName server) {
      InetAddress literal = NetUtil.createInetAddressFromIpAddressString(server.host());
      return literal == null
          ? InetSocketAddress.createUnresolved(server.host(), server.port())
          : new InetSocketAddress(literal, server.port());
    }

    @Override
    public String toString() {
      // Never the password.
      return "proxy " + address;
    }
  }

  /**
   * The connections to each server. Source: the drivers' specification "Connection Monitoring and
   * Pooling".
   *
   * @param maxSize most connections; 0 for no limit
   * @param minSize how many are kept open, used or not
   * @param maxConnecting most that are being opened at once; 0 for no limit
   * @param maxWait how long a request waits for a connection; negative for any time
   * @param maxIdle an unused connection is closed after that; zero for never
   * @param maxLife a connection is closed after that, once it is not in use; zero for never
   */
  public record PoolLimits(
      int maxSize,
      int minSize,
      int maxConnecting,
      Duration maxWait,
      Duration maxIdle,
      Duration maxLife) {

    /** Without limits but on waiting. */
    public static PoolLimits none(Duration maxWait) {
      return new PoolLimits(0, 0, 0, maxWait, Duration.ZERO, Duration.ZERO);
    }
  }

  /**
   * The connections to each server that short requests share, beside those of {@link PoolLimits}.
   *
   * @param connections how many
   * @param maxInFlight most requests that are unanswered on one
   * @param maxSharedBytes size of the largest request that shares
   * @param meters where it is measured
   */
  public record Sharing(
      int connections, int maxInFlight, int maxSharedBytes, MeterRegistry meters) {}

  /**
   * How long hello and authentication may take together, zero for any time: no longer than a
   * request would wait for it. A person who has to log in has more time.
   */
  Duration maxOpening() {
    if (pool.maxWait().isNegative() || sockets.connectTimeout().isZero()) {
      return Duration.ZERO;
    }
    Duration patience =
        handshake.mechanism() == null ? Duration.ZERO : handshake.mechanism().patience();
    return longer(longer(pool.maxWait(), sockets.connectTimeout()), patience);
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }

  /**
   * Makes TLS connections. Thread-safe.
   *
   * @param context makes the engines and sockets
   * @param verifiesNames whether the server's certificate must be for its name
   */
  public record Tls(SSLContext context, boolean verifiesNames) {
    /** A client's engine for a connection to a server. */
    SSLEngine newEngine(ServerAddressName server) {
      SSLEngine engine = context.createSSLEngine(server.host(), server.port());
      engine.setUseClientMode(true);
      engine.setSSLParameters(verifying(engine.getSSLParameters()));
      return engine;
    }

    /**
     * TLS on a connected socket, after the handshake.
     *
     * @param plain stays the caller's
     */
    Socket shaken(Socket plain, ServerAddressName server) throws IOException {
      SSLSocket socket =
          (SSLSocket)
              context.getSocketFactory().createSocket(plain, server.host(), server.port(), false);
      socket.setUseClientMode(true);
      socket.setSSLParameters(verifying(socket.getSSLParameters()));
      socket.startHandshake();
      return socket;
    }

    private SSLParameters verifying(SSLParameters parameters) {
      if (verifiesNames) {
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
      }
      return parameters;
    }
  }

  /**
   * Plain connections without authentication or a limit, as a router within a cluster has.
   *
   * @param ways where to connect to for servers that are not to be reached by their own address
   */
  public static WireSettings plain(
      @Nullable SocketAddress localAddress,
      BsonDocument client,
      Map<ServerAddressName, InetSocketAddress> ways) {
    return new WireSettings(
        new Sockets(
            EventLoops.socketChannelClass(), localAddress, Duration.ofSeconds(5), 0, 0, null),
        PoolLimits.none(Duration.ofMinutes(2)),
        null,
        new HandshakeSettings(client, List.of(), null),
        List.of(),
        new Addresses(Addresses.Lookup.SYSTEM, ways),
        null);
  }
}
