package dev.onehop.routing.internal.router;

import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.shards.request.LocalCommands;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.connection.BlockingPool;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.security.KeyManagementException;
import java.security.Provider;
import java.security.SecureRandom;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * A mongos in this process for synchronous clients: the driver's sockets lead to a {@link
 * CommandRouter}. The blocking counterpart of {@link VirtualMongos}.
 *
 * <p>The driver creates its sockets by the factory of the {@link SSLContext} in its settings. The
 * driver uses only the methods of {@link Socket}, and nothing is encrypted.
 *
 * <p>Thread-safe.
 */
final class InProcessSockets implements AutoCloseable {
  private final CommandRouter router;
  private final LocalCommands local;
  private final CommandMeter meter;
  private final BlockingPool pool;
  private final Set<BlockingRequests> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param pool the sockets to the servers; the router closes it
   */
  InProcessSockets(
      CommandRouter router, LocalCommands local, CommandMeter meter, BlockingPool pool) {
    this.router = router;
    this.local = local;
    this.meter = meter;
    this.pool = pool;
  }

  /** A context whose sockets lead to the router. */
  SSLContext context() {
    return new InProcessContext(new Factory());
  }

  /**
   * Waits until the cluster is usable, then connects to the router. If the cluster is unusable, or
   * does not reply within {@link VirtualMongos#START_TIMEOUT}, the connection opens nevertheless.
   * Its commands then return the error.
   *
   * @param timeoutMillis 0 for no limit; after a limit that is shorter than {@link
   *     VirtualMongos#START_TIMEOUT}, the method fails
   */
  BlockingRequests connect(int timeoutMillis) throws IOException {
    awaitStart(timeoutMillis);
    BlockingRequests requests = new BlockingRequests(router, local, meter, pool, open::remove);
    open.add(requests);
    if (closed) {
      requests.close();
      throw new SocketException("the client is closed");
    }
    return requests;
  }

  private void awaitStart(int timeoutMillis) throws IOException {
    long most = VirtualMongos.START_TIMEOUT.toMillis();
    boolean shorter = timeoutMillis > 0 && timeoutMillis < most;
    CompletableFuture<Void> started = new CompletableFuture<>();
    Disposable starting =
        router
            .startedOrSilent()
            .subscribe(
                null,
                failure -> started.complete(null),
                () -> started.complete(null),
                LateErrors.LOGGED);
    try {
      started.get(shorter ? timeoutMillis : most, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      if (shorter) {
        throw new SocketTimeoutException("Connect timed out");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException thrown = new InterruptedIOException("interrupted while connecting");
      thrown.initCause(e);
      throw thrown;
    } catch (ExecutionException e) {
      throw new IOException("the router did not start", e);
    } finally {
      starting.dispose();
    }
  }

  /** Closes all connections; their current requests fail. */
  @Override
  public void close() {
    closed = true;
    open.forEach(BlockingRequests::clientClosed);
  }

  private final class Factory extends SSLSocketFactory {
    @Override
    public Socket createSocket() {
      return new InProcessSocket(InProcessSockets.this);
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
      return connected(new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
        throws IOException {
      return createSocket(host, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
      return connected(new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(
        InetAddress address, int port, InetAddress localAddress, int localPort) throws IOException {
      return createSocket(address, port);
    }

    @Override
    public Socket createSocket(Socket below, String host, int port, boolean autoClose) {
      throw new UnsupportedOperationException("an in-process socket uses no other socket");
    }

    private Socket connected(InetSocketAddress address) throws IOException {
      Socket socket = createSocket();
      socket.connect(address);
      return socket;
    }

    @Override
    public String[] getDefaultCipherSuites() {
      return new String[0];
    }

    @Override
    public String[] getSupportedCipherSuites() {
      return new String[0];
    }
  }

  private static final class InProcessContext extends SSLContext {
    InProcessContext(SSLSocketFactory factory) {
      super(new Spi(factory), new InProcessProvider(), "in-process");
    }
  }

  private static final class InProcessProvider extends Provider {
    private static final long serialVersionUID = 1L;

    InProcessProvider() {
      super("OneHop", "1", "in-process sockets");
    }
  }

  private static final class Spi extends SSLContextSpi {
    private final SSLSocketFactory factory;

    Spi(SSLSocketFactory factory) {
      this.factory = factory;
    }

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
      return factory;
    }

    @Override
    protected void engineInit(
        KeyManager @Nullable [] keys,
        TrustManager @Nullable [] trust,
        @Nullable SecureRandom random)
        throws KeyManagementException {
      throw new KeyManagementException("in-process sockets need no keys");
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
      throw clientsOnly();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
      throw clientsOnly();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
      throw clientsOnly();
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
      throw clientsOnly();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
      throw clientsOnly();
    }

    private static UnsupportedOperationException clientsOnly() {
      return new UnsupportedOperationException(
          "only client sockets of the synchronous driver are" + " supported");
    }
  }
}
