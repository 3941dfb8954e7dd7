package dev.onehop.routing.internal.router;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.util.Objects;
import java.util.Set;
import javax.net.ssl.HandshakeCompletedListener;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * A socket without a network: bytes that are written are requests to a router in this process,
 * bytes that are read are its replies. Network options are accepted and have no effect.
 *
 * <p>Thread-safe, as sockets are.
 */
// The overridden methods are synchronized. These methods need not be, because the fields are
// volatile.
@SuppressWarnings("UnsynchronizedOverridesSynchronized")
final class InProcessSocket extends SSLSocket {
  private static final String[] NONE = new String[0];

  private final InProcessSockets sockets;
  private final InputStream in = new In();
  private final OutputStream out = new Out();
  private volatile @Nullable BlockingRequests requests;
  private volatile @Nullable InetSocketAddress remote;
  private volatile boolean closed;
  private volatile boolean inputShutdown;
  private volatile boolean outputShutdown;
  private volatile int timeoutMillis;

  InProcessSocket(InProcessSockets sockets) {
    this.sockets = sockets;
  }

  @Override
  public void connect(SocketAddress address) throws IOException {
    connect(address, 0);
  }

  @Override
  public void connect(SocketAddress address, int timeout) throws IOException {
    if (timeout < 0) {
      throw new IllegalArgumentException("connect: timeout can't be negative");
    }
    if (closed) {
      throw closedSocket();
    }
    if (requests != null) {
      throw new SocketException("already connected");
    }
    if (!(address instanceof InetSocketAddress internet)) {
      throw new IllegalArgumentException("Unsupported address type");
    }
    BlockingRequests connected = sockets.connect(timeout);
    remote = internet;
    requests = connected;
    if (closed) {
      connected.close();
      throw closedSocket();
    }
  }

  @Override
  public void close() {
    closed = true;
    BlockingRequests connected = requests;
    if (connected != null) {
      connected.close();
    }
  }

  private static SocketException closedSocket() {
    return new SocketException("Socket closed");
  }

  /** Returns the requests of an open, connected socket that is not shut down. */
  private BlockingRequests usable(boolean shutDown) throws SocketException {
    BlockingRequests connected = requests;
    if (closed) {
      throw closedSocket();
    }
    if (connected == null) {
      throw new SocketException("Socket is not connected");
    }
    if (shutDown) {
      throw new SocketException("Socket output is shutdown");
    }
    return connected;
  }

  private final class In extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, bytes.length);
      BlockingRequests connected = usable(false);
      if (inputShutdown) {
        return -1;
      }
      return length == 0 ? 0 : connected.read(bytes, offset, length, timeoutMillis);
    }

    @Override
    public void close() {
      InProcessSocket.this.close();
    }
  }

  private final class Out extends OutputStream {
    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      Objects.checkFromIndexSize(offset, length, bytes.length);
      usable(outputShutdown).write(bytes, offset, length);
    }

    @Override
    public void close() {
      InProcessSocket.this.close();
    }
  }

  @Override
  public InputStream getInputStream() throws IOException {
    var unused = usable(false);
    return in;
  }

  @Override
  public OutputStream getOutputStream() throws IOException {
    var unused = usable(outputShutdown);
    return out;
  }

  /**
   * As on a plain socket, requests that were written before the shutdown still get their replies.
   */
  @Override
  public void shutdownOutput() throws IOException {
    var unused = usable(outputShutdown);
    outputShutdown = true;
  }

  @Override
  public void shutdownInput() throws IOException {
    var unused = usable(false);
    inputShutdown = true;
  }

  @Override
  public boolean isInputShutdown() {
    return inputShutdown;
  }

  @Override
  public boolean isOutputShutdown() {
    return outputShutdown;
  }

  @Override
  public boolean isConnected() {
    return requests != null;
  }

  @Override
  public boolean isBound() {
    return requests != null;
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void bind(@Nullable SocketAddress address) {
    // Nothing to do.
  }

  @Override
  public @Nullable SocketAddress getRemoteSocketAddress() {
    return remote;
  }

  @Override
  public @Nullable InetAddress getInetAddress() {
    InetSocketAddress address = remote;
    return address == null ? null : address.getAddress();
  }

  @Override
  public int getPort() {
    InetSocketAddress address = remote;
    return address == null ? 0 : address.getPort();
  }

  @Override
  public InetAddress getLocalAddress() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public int getLocalPort() {
    return -1;
  }

  @Override
  public @Nullable SocketAddress getLocalSocketAddress() {
    return null;
  }

  @Override
  public void setSoTimeout(int timeout) throws SocketException {
    if (closed) {
      throw closedSocket();
    }
    if (timeout < 0) {
      throw new IllegalArgumentException("timeout < 0");
    }
    timeoutMillis = timeout;
  }

  @Override
  public int getSoTimeout() {
    return timeoutMillis;
  }

  @Override
  public void setTcpNoDelay(boolean on) {}

  @Override
  public boolean getTcpNoDelay() {
    return true;
  }

  @Override
  public void setKeepAlive(boolean on) {}

  @Override
  public boolean getKeepAlive() {
    return true;
  }

  @Override
  public void setSendBufferSize(int size) {}

  @Override
  public void setReceiveBufferSize(int size) {}

  @Override
  public void setSoLinger(boolean on, int linger) {}

  @Override
  public void setReuseAddress(boolean on) {}

  @Override
  public void setTrafficClass(int trafficClass) {}

  @Override
  public <T> Socket setOption(SocketOption<T> name, T value) {
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> name) {
    throw new UnsupportedOperationException("an in-process socket has no options");
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return Set.of();
  }

  @Override
  public String toString() {
    return "InProcessSocket[" + remote + "]";
  }

  @Override
  public String[] getSupportedCipherSuites() {
    return NONE;
  }

  @Override
  public String[] getEnabledCipherSuites() {
    return NONE;
  }

  @Override
  public void setEnabledCipherSuites(String[] suites) {}

  @Override
  public String[] getSupportedProtocols() {
    return NONE;
  }

  @Override
  public String[] getEnabledProtocols() {
    return NONE;
  }

  @Override
  public void setEnabledProtocols(String[] protocols) {}

  @Override
  public SSLSession getSession() {
    throw new UnsupportedOperationException("an in-process socket has no TLS session");
  }

  @Override
  public void addHandshakeCompletedListener(HandshakeCompletedListener listener) {}

  @Override
  public void removeHandshakeCompletedListener(HandshakeCompletedListener listener) {}

  @Override
  public void startHandshake() {}

  @Override
  public void setUseClientMode(boolean mode) {}

  @Override
  public boolean getUseClientMode() {
    return true;
  }

  @Override
  public void setNeedClientAuth(boolean need) {}

  @Override
  public boolean getNeedClientAuth() {
    return false;
  }

  @Override
  public void setWantClientAuth(boolean want) {}

  @Override
  public boolean getWantClientAuth() {
    return false;
  }

  @Override
  public void setEnableSessionCreation(boolean flag) {}

  @Override
  public boolean getEnableSessionCreation() {
    return false;
  }
}
