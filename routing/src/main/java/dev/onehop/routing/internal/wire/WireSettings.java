package dev.onehop.routing.internal.wire;

import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
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
 * @param channelClass the class of channels, which must fit the event loops
 * @param localAddress the address to connect from (port 0), null for the system's choice
 * @param connectTimeout for TCP and TLS, each
 * @param maxPoolSize most connections per server; 0 for no limit
 * @param maxWait how long a request waits for a connection; negative for any time
 * @param maxIdle an unused connection is closed after that; zero for never
 * @param tls makes the TLS engines, null for no TLS
 * @param credential who to authenticate as, null for nobody
 * @param client the {@code client} document of the handshake
 * @param addresses where the servers are
 */
public record WireSettings(
    Class<? extends SocketChannel> channelClass,
    @Nullable SocketAddress localAddress,
    Duration connectTimeout,
    int maxPoolSize,
    Duration maxWait,
    Duration maxIdle,
    @Nullable Tls tls,
    @Nullable WireCredential credential,
    BsonDocument client,
    Addresses addresses) {

  /**
   * How long hello and authentication may take together, zero for any time: no longer than a
   * request would wait for it, which is long, as lanes authenticate one after the other.
   */
  Duration maxOpening() {
    if (maxWait.isNegative() || connectTimeout.isZero()) {
      return Duration.ZERO;
    }
    return maxWait.compareTo(connectTimeout) > 0 ? maxWait : connectTimeout;
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
        EventLoops.socketChannelClass(),
        localAddress,
        Duration.ofSeconds(5),
        0,
        Duration.ofMinutes(2),
        Duration.ZERO,
        null,
        null,
        client,
        new Addresses(Addresses.Lookup.SYSTEM, ways));
  }
}
