package dev.onehop.wire.connection;

import dev.onehop.wire.LateErrors;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.handshake.AuthenticationFailure;
import dev.onehop.wire.handshake.Handshake;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A plain socket to one MongoDB server. The thread that holds the connection sends one request at a
 * time and waits for the reply.
 *
 * <p>Used by one thread at a time, except for {@link #close}.
 */
public final class BlockingConnection extends PooledConnection {
  private static final AtomicInteger REQUEST_IDS = new AtomicInteger();
  private static final int FIRST_READ_BYTES = 4096;

  private final ServerAddressName server;
  private final Socket transport;
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private final Handshake handshake;
  private final Duration maxOpening;
  private final ScheduledExecutorService timer;
  private volatile boolean open = true;
  private volatile @Nullable IOException lost;
  private volatile @Nullable Future<?> shaking;
  private @Nullable Compressor compressor;
  // A copy of the request, in case the connection has to authenticate again.
  private @Nullable ByteBuf again;
  private boolean serverEnds;
  private int awaited;
  private int readTimeout;

  private BlockingConnection(
      ServerAddressName server,
      Socket transport,
      Socket socket,
      WireSettings settings,
      ScheduledExecutorService timer)
      throws IOException {
    this.server = server;
    this.transport = transport;
    this.socket = socket;
    this.in = socket.getInputStream();
    this.out = socket.getOutputStream();
    this.maxOpening = settings.maxOpening();
    this.timer = timer;
    this.handshake =
        new Handshake(
            settings.handshake(),
            server.host(),
            command -> Mono.fromCallable(() -> command(command)));
  }

  /**
   * Connects and authenticates, on this thread.
   *
   * @param timer closes the socket after the limit
   * @throws ServerRefusedException if the server refuses the user
   * @throws SocketTimeoutException after the limit
   * @throws IOException if the server can't be reached
   */
  static BlockingConnection open(
      ServerAddressName server,
      WireSettings settings,
      ScheduledExecutorService timer,
      TimeLimit limit,
      Cancellation abort)
      throws IOException {
    try {
      BlockingConnection connection =
          connectToFirst(server, settings, timer, limit, abort, addresses(server, settings, limit));
      abort.by(connection::close);
      connection.introduce(settings, limit);
      return connection;
    } catch (IOException e) {
      if (limit.isPassed()) {
        throw TimeLimit.timedOut();
      }
      throw e;
    }
  }

  private static List<InetSocketAddress> addresses(
      ServerAddressName server, WireSettings settings, TimeLimit limit) throws IOException {
    // A proxy resolves the server's name itself, so only the proxy's name is looked up.
    WireSettings.Proxy proxy = settings.sockets().proxy();
    Future<List<InetSocketAddress>> found =
        settings.addresses().of(proxy == null ? server : proxy.address()).toFuture();
    int millis = limit.atMost(settings.sockets().connectTimeout()).remainingMillis();
    try {
      List<InetSocketAddress> addresses =
          millis == 0 ? found.get() : found.get(millis, TimeUnit.MILLISECONDS);
      if (addresses.isEmpty()) {
        throw new UnknownHostException("its name has no address");
      }
      return addresses;
    } catch (UnknownHostException e) {
      throw WireConnection.unreachable(server, e);
    } catch (ExecutionException e) {
      throw WireConnection.unreachable(server, e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException e) {
      throw WireConnection.unreachable(
          server, new UnknownHostException("its name was not resolved within " + millis + " ms"));
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  static InterruptedIOException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    InterruptedIOException thrown = new InterruptedIOException("interrupted");
    thrown.initCause(e);
    return thrown;
  }

  /**
   * Tries the addresses one after another, as the driver does: each attempt has the whole connect
   * timeout.
   */
  private static BlockingConnection connectToFirst(
      ServerAddressName server,
      WireSettings settings,
      ScheduledExecutorService timer,
      TimeLimit limit,
      Cancellation abort,
      List<InetSocketAddress> addresses)
      throws IOException {
    IOException last = null;
    for (InetSocketAddress address : addresses) {
      try {
        return connect(server, settings, timer, limit, abort, address);
      } catch (SocketTimeoutException e) {
        last = WireConnection.unreachable(server, e);
        if (limit.isPassed()) {
          break;
        }
      } catch (IOException e) {
        last = WireConnection.unreachable(server, e);
      }
    }
    throw last == null ? new IOException("no address is known for " + server) : last;
  }

  private static BlockingConnection connect(
      ServerAddressName server,
      WireSettings settings,
      ScheduledExecutorService timer,
      TimeLimit limit,
      Cancellation abort,
      InetSocketAddress address)
      throws IOException {
    Socket plain = new Socket();
    abort.by(() -> close(plain));
    try {
      try {
        // This call creates the socket, so it fails if no file descriptor is left.
        plain.setTcpNoDelay(true);
      } catch (SocketException e) {
        throw new NoSocketException(server, e);
      }
      plain.setKeepAlive(true);
      WireSettings.Sockets sockets = settings.sockets();
      if (sockets.sendBufferBytes() > 0) {
        plain.setSendBufferSize(sockets.sendBufferBytes());
      }
      if (sockets.receiveBufferBytes() > 0) {
        plain.setReceiveBufferSize(sockets.receiveBufferBytes());
      }
      if (sockets.localAddress() != null) {
        plain.bind(sockets.localAddress());
      }
      plain.connect(address, limit.atMost(sockets.connectTimeout()).remainingMillis());
      WireSettings.Proxy proxy = sockets.proxy();
      if (proxy != null) {
        within(
            limit.atMost(sockets.connectTimeout()),
            timer,
            plain,
            () -> {
              SocksTunnel.open(plain, proxy, server);
              return plain;
            });
      }
      WireSettings.Tls tls = settings.tls();
      Socket socket =
          tls == null
              ? plain
              : within(
                  limit.atMost(sockets.connectTimeout()),
                  timer,
                  plain,
                  () -> tls.shaken(plain, server));
      return new BlockingConnection(server, plain, socket, settings, timer);
    } catch (Throwable failure) {
      close(plain);
      throw failure;
    }
  }

  private interface Opening<T extends @Nullable Object> {
    T run() throws IOException;
  }

  /**
   * Limits the time of a step on a new socket: the socket is closed when the time is over. There is
   * no read timeout, because after one read with a timeout, each later read of a Java socket needs
   * more system calls.
   */
  private static <T extends @Nullable Object> T within(
      TimeLimit limit, ScheduledExecutorService timer, Socket socket, Opening<T> opening)
      throws IOException {
    if (!limit.isLimited()) {
      return opening.run();
    }
    int millis = limit.remainingMillis();
    Future<?> ending = timer.schedule(() -> close(socket), millis, TimeUnit.MILLISECONDS);
    try {
      return opening.run();
    } catch (IOException e) {
      if (ending.isDone()) {
        SocketTimeoutException late =
            new SocketTimeoutException("the handshake was not finished in " + millis + " ms");
        late.initCause(e);
        throw late;
      }
      throw e;
    } finally {
      ending.cancel(false);
    }
  }

  /** Sends hello and authenticates. */
  private void introduce(WireSettings settings, TimeLimit limit) throws IOException {
    try {
      BsonDocument hello = shake(handshake.run(), limit);
      compressor = hello == null ? null : Compressor.agreed(hello, settings.compressors());
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  /**
   * Waits for a part of the handshake. Its steps run on this thread until a step may block. That
   * step and the later steps run on another thread.
   */
  @SuppressWarnings("NullAway") // NullAway infers no nullable type argument
  private <T> @Nullable T shake(Mono<T> part, TimeLimit limit) throws IOException {
    TimeLimit time = limit.atMost(maxOpening);
    try {
      return within(time, timer, transport, () -> await(part, time));
    } catch (SocketTimeoutException e) {
      throw new IOException(
          server + " has not finished the handshake in " + maxOpening.toMillis() + " ms", e);
    }
  }

  private <T> @Nullable T await(Mono<T> part, TimeLimit limit) throws IOException {
    Future<@Nullable T> done = part.contextWrite(LateErrors::logged).toFuture();
    shaking = done;
    try {
      if (!open) {
        done.cancel(true);
      }
      int millis = done.isDone() ? 0 : limit.remainingMillis();
      return millis == 0 ? done.get() : done.get(millis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException broken) {
        throw broken;
      }
      if (e.getCause() instanceof AuthenticationFailure refused) {
        throw new ServerRefusedException(server, refused);
      }
      throw new IOException("the handshake with " + server + " failed", e);
    } catch (CancellationException e) {
      throw new SocketException("Socket closed");
    } catch (TimeoutException e) {
      throw TimeLimit.timedOut();
    } catch (InterruptedException e) {
      throw interrupted(e);
    } finally {
      shaking = null;
      done.cancel(true);
    }
  }

  private BsonDocument command(BsonDocument command) throws IOException {
    ByteBuf message = UnpooledByteBufAllocator.DEFAULT.heapBuffer(512);
    OpMsg.command(command).encode(message);
    write(message);
    ByteBuf reply = UnpooledByteBufAllocator.DEFAULT.heapBuffer(FIRST_READ_BYTES);
    readAnswer(reply, TimeLimit.NONE);
    try {
      return OpMsg.decode(reply).body();
    } catch (RuntimeException e) {
      throw unreadable(e);
    }
  }

  /**
   * Sends a request with a new request id. If this fails, a part of the request may have been sent.
   *
   * @param message the whole message in one array; released by this connection
   */
  public void send(ByteBuf message) throws IOException {
    again = handshake.authenticates() ? message.retainedDuplicate() : null;
    write(message);
  }

  private void write(ByteBuf message) throws IOException {
    awaited = REQUEST_IDS.incrementAndGet();
    message.setIntLE(message.readerIndex() + 4, awaited);
    ByteBuf sent = compressed(message);
    try {
      out.write(sent.array(), sent.arrayOffset() + sent.readerIndex(), sent.readableBytes());
      out.flush();
    } catch (IOException e) {
      throw broken(e);
    } finally {
      sent.release();
    }
  }

  private ByteBuf compressed(ByteBuf message) throws IOException {
    try {
      return compressor == null ? message : compressor.compress(message);
    } catch (RuntimeException e) {
      throw new IOException("cannot compress a request to " + server, e);
    }
  }

  /**
   * Waits for the reply to the request. After a timeout, this method may be called again.
   *
   * <p>If the server requires the connection to authenticate again, the connection does so and
   * sends the request once more. This is safe, because the server has not executed the request.
   *
   * @param into receives the reply; the buffer must have an array. After a timeout, the buffer
   *     contains the beginning of the reply
   * @throws SocketTimeoutException after the limit
   * @throws IOException if the connection breaks, or receives another message
   * @throws ServerRefusedException if the server now refuses the user
   */
  public void receive(ByteBuf into, TimeLimit limit) throws IOException {
    readAnswer(into, limit);
    int code = ReplyCode.of(into);
    ByteBuf second = again;
    again = null;
    if (second != null && ReplyCode.wantsAuthentication(code)) {
      into.clear();
      authenticateAgain(limit);
      write(second);
      readAnswer(into, limit);
      code = ReplyCode.of(into);
    } else if (second != null) {
      second.release();
    }
    serverEnds = ReplyCode.isShutdown(code);
  }

  private void authenticateAgain(TimeLimit limit) throws IOException {
    try {
      shake(handshake.again(), limit);
    } catch (Throwable e) {
      close();
      if (limit.isPassed()) {
        throw TimeLimit.timedOut();
      }
      throw e;
    }
  }

  private void readAnswer(ByteBuf into, TimeLimit limit) throws IOException {
    readMessage(into, limit);
    if (CompressedMessages.isCompressed(into)) {
      expand(into);
    }
    if (OpMsg.responseTo(into) != awaited) {
      throw new ProtocolException(
          server
              + " sent a reply to request "
              + OpMsg.responseTo(into)
              + ", but the next reply belongs to request "
              + awaited);
    }
  }

  private void expand(ByteBuf message) throws IOException {
    ByteBuf plain;
    try {
      plain = CompressedMessages.expandWhole(message);
    } catch (WireProtocolException e) {
      throw unreadable(e);
    }
    message.clear().writeBytes(plain);
    plain.release();
  }

  private ProtocolException unreadable(RuntimeException e) {
    return new ProtocolException("unreadable reply of " + server + ": " + e.getMessage());
  }

  private void readMessage(ByteBuf into, TimeLimit limit) throws IOException {
    int start = into.readerIndex();
    while (true) {
      int missing = Math.max(1, into.writableBytes());
      if (into.readableBytes() >= 4) {
        int length = into.getIntLE(start);
        if (length < OpMsg.HEADER_BYTES || length > OpMsg.MAX_MESSAGE_BYTES) {
          throw new ProtocolException(server + " sent a message of invalid length " + length);
        }
        missing = length - into.readableBytes();
        if (missing == 0) {
          return;
        }
        if (missing < 0) {
          throw new ProtocolException(server + " sent more than the requested reply");
        }
      }
      into.ensureWritable(missing);
      readInto(into, limit);
    }
  }

  private void readInto(ByteBuf into, TimeLimit limit) throws IOException {
    int timeout = limit.remainingMillis();
    if (timeout != readTimeout) {
      socket.setSoTimeout(timeout);
      readTimeout = timeout;
    }
    int read;
    try {
      read = in.read(into.array(), into.arrayOffset() + into.writerIndex(), into.writableBytes());
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException e) {
      throw broken(e);
    }
    if (read < 0) {
      throw new IOException("connection to " + server + " is closed");
    }
    into.writerIndex(into.writerIndex() + read);
  }

  /**
   * The socket's error with the server's name, or the reason why this client closed the connection.
   */
  private IOException broken(IOException e) {
    IOException why = lost;
    return why == null
        ? new IOException("connection to " + server + " failed: " + e.getMessage(), e)
        : new IOException(why.getMessage(), e);
  }

  ServerAddressName server() {
    return server;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  /** Whether the last reply reported that the server is shutting down. */
  boolean serverEnds() {
    return serverEnds;
  }

  /** Always 0: the sending thread waits until the socket has accepted all bytes. */
  @Override
  public long unsentBytes() {
    return 0;
  }

  @Override
  boolean isOn(EventLoop loop) {
    return true;
  }

  /**
   * Closes the connection like {@link #close}; a thread that waits for a reply fails with this
   * cause.
   */
  @Override
  public void abort(IOException why) {
    lost = why;
    close();
  }

  /**
   * Closes the connection; a thread that waits for a reply gets an {@link IOException}.
   * Thread-safe.
   */
  @Override
  public void close() {
    open = false;
    Future<?> waitedFor = shaking;
    if (waitedFor != null) {
      waitedFor.cancel(true);
    }
    // This closes the plain socket. To close the TLS socket, this thread would wait for a writing
    // thread.
    close(transport);
    runWhenClosed();
  }

  private static void close(@Nullable Socket socket) {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      // Nothing to do: the socket is closed anyway.
    }
  }
}
