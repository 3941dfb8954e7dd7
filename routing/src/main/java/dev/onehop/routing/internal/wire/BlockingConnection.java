package dev.onehop.routing.internal.wire;

import dev.onehop.routing.internal.handshake.AuthenticationFailure;
import dev.onehop.routing.internal.handshake.Handshake;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
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
 * A plain socket to one MongoDB server, on which the thread that has it sends one request at a time
 * and waits for the answer itself.
 *
 * <p>Used by one thread at a time, but for {@link #close}.
 */
public final class BlockingConnection {
  private static final AtomicInteger REQUEST_IDS = new AtomicInteger();
  private static final int FIRST_READ_BYTES = 4096;

  private final ServerAddressName server;
  private final Socket transport;
  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private volatile boolean open = true;
  private int awaited;
  private int readTimeout;
  private long idleSinceNanos;

  private BlockingConnection(ServerAddressName server, Socket transport, Socket socket)
      throws IOException {
    this.server = server;
    this.transport = transport;
    this.socket = socket;
    this.in = socket.getInputStream();
    this.out = socket.getOutputStream();
  }

  /**
   * Connects and authenticates, on this thread.
   *
   * @param timer ends what takes too long
   * @throws ServerRefusedException if the server does not take the user
   * @throws SocketTimeoutException if the limit passes
   * @throws IOException if the server can't be reached
   */
  static BlockingConnection open(
      ServerAddressName server,
      WireSettings settings,
      ScheduledExecutorService timer,
      TimeLimit limit,
      Abort abort)
      throws IOException {
    try {
      BlockingConnection connection =
          connectToFirst(server, settings, timer, limit, abort, addresses(server, settings, limit));
      connection.authenticate(settings, timer, limit);
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
    Future<List<InetSocketAddress>> found = settings.addresses().of(server).toFuture();
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
          server, new UnknownHostException("its name was not resolved in " + millis + " ms"));
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

  /** Tries one after the other, as the driver does: each may take the time to connect. */
  private static BlockingConnection connectToFirst(
      ServerAddressName server,
      WireSettings settings,
      ScheduledExecutorService timer,
      TimeLimit limit,
      Abort abort,
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
    throw last == null ? new IOException("no address of " + server) : last;
  }

  private static BlockingConnection connect(
      ServerAddressName server,
      WireSettings settings,
      ScheduledExecutorService timer,
      TimeLimit limit,
      Abort abort,
      InetSocketAddress address)
      throws IOException {
    Socket plain = new Socket();
    abort.by(() -> close(plain));
    try {
      plain.setTcpNoDelay(true);
      plain.setKeepAlive(true);
      if (settings.sockets().localAddress() != null) {
        plain.bind(settings.sockets().localAddress());
      }
      plain.connect(address, limit.atMost(settings.sockets().connectTimeout()).remainingMillis());
      WireSettings.Tls tls = settings.tls();
      if (tls == null) {
        return new BlockingConnection(server, plain, plain);
      }
      return within(
          limit.atMost(settings.sockets().connectTimeout()),
          timer,
          plain,
          () -> new BlockingConnection(server, plain, tls.shaken(plain, server)));
    } catch (Throwable failure) {
      close(plain);
      throw failure;
    }
  }

  private interface Opening<T> {
    T run() throws IOException;
  }

  /**
   * Bounds what happens on a new socket by closing it, and not by a read timeout: a socket of Java
   * that was ever read with one needs more system calls for each read from then on.
   */
  private static <T> T within(
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

  private void authenticate(
      WireSettings settings, ScheduledExecutorService timer, TimeLimit limit)
      throws IOException {
    try {
      within(
          limit.atMost(settings.maxOpening()),
          timer,
          transport,
          () -> {
            handshake(settings);
            return this;
          });
    } catch (IOException e) {
      close();
      throw e instanceof SocketTimeoutException
          ? new IOException(server + ": " + e.getMessage(), e)
          : e;
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  private void handshake(WireSettings settings) throws IOException {
    try {
      // Most steps are taken on this thread: then it is done when the future is there.
      new Handshake(
              settings.handshake(),
              server.host(),
              command -> Mono.fromCallable(() -> command(command)))
          .run()
          .toFuture()
          .get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException broken) {
        throw broken;
      }
      if (e.getCause() instanceof AuthenticationFailure refused) {
        throw new ServerRefusedException(server, refused);
      }
      throw new IOException("the handshake with " + server + " failed", e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private BsonDocument command(BsonDocument command) throws IOException {
    ByteBuf message = Unpooled.buffer(512);
    OpMsg.command(command).encode(message);
    send(message);
    ByteBuf reply = Unpooled.buffer(FIRST_READ_BYTES);
    receive(reply, TimeLimit.NONE);
    try {
      return OpMsg.decode(reply).body();
    } catch (RuntimeException e) {
      throw new IOException("unreadable answer of " + server, e);
    }
  }

  /**
   * Sends a request, under an id of this connection's.
   *
   * @param message the whole message in one array, taken over
   */
  public void send(ByteBuf message) throws IOException {
    try {
      awaited = REQUEST_IDS.incrementAndGet();
      message.setIntLE(message.readerIndex() + 4, awaited);
      out.write(
          message.array(), message.arrayOffset() + message.readerIndex(), message.readableBytes());
      out.flush();
    } finally {
      message.release();
    }
  }

  /**
   * Waits for the answer to the request that was sent. After a time-out it may be called again.
   *
   * @param into takes the answer up, by an array; what it has is the answer's beginning
   * @throws SocketTimeoutException if the limit passes
   * @throws IOException if the connection breaks, or brings something else
   */
  public void receive(ByteBuf into, TimeLimit limit) throws IOException {
    int start = into.readerIndex();
    while (true) {
      int missing = Math.max(1, into.writableBytes());
      if (into.readableBytes() >= 4) {
        int length = into.getIntLE(start);
        if (length < OpMsg.HEADER_BYTES || length > OpMsg.MAX_MESSAGE_BYTES) {
          throw new IOException(server + " sends a message that claims " + length + " bytes");
        }
        missing = length - into.readableBytes();
        if (missing == 0) {
          break;
        }
        if (missing < 0) {
          throw new IOException(server + " sends more than was asked for");
        }
      }
      into.ensureWritable(missing);
      readInto(into, limit);
    }
    if (OpMsg.responseTo(into) != awaited) {
      throw new IOException(
          server + " answered request " + OpMsg.responseTo(into) + ", which was not the next one");
    }
  }

  private void readInto(ByteBuf into, TimeLimit limit) throws IOException {
    int timeout = limit.remainingMillis();
    if (timeout != readTimeout) {
      socket.setSoTimeout(timeout);
      readTimeout = timeout;
    }
    int read = in.read(into.array(), into.arrayOffset() + into.writerIndex(), into.writableBytes());
    if (read < 0) {
      throw new IOException("connection to " + server + " is closed");
    }
    into.writerIndex(into.writerIndex() + read);
  }

  ServerAddressName server() {
    return server;
  }

  boolean isOpen() {
    return open;
  }

  void idleSince(long nanos) {
    idleSinceNanos = nanos;
  }

  long idleSince() {
    return idleSinceNanos;
  }

  /** Closes it; a thread that waits for an answer gets an {@link IOException}. Thread-safe. */
  void close() {
    open = false;
    // Not the TLS socket, which would wait for whoever writes to it.
    close(transport);
  }

  private static void close(@Nullable Socket socket) {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      // It is closed all the same.
    }
  }
}
