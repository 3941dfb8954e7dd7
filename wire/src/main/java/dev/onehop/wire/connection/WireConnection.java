package dev.onehop.wire.connection;

import dev.onehop.wire.LateErrors;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.CallerWritesChannel;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.handshake.AuthenticationFailure;
import dev.onehop.wire.handshake.Handshake;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.proxy.ProxyHandler;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A connection to one MongoDB server. Replies arrive in the order of the requests, as mongod sends
 * them. If the connection breaks, every request without a reply fails.
 *
 * <p>Safe for use by several threads.
 */
final class WireConnection extends PooledConnection implements SharedTransport {
  private static final AtomicInteger REQUEST_IDS = new AtomicInteger();

  private final ServerAddressName server;
  private final EventLoop loop;
  // The requests that were sent and have no reply, in their order.
  private final Queue<Request> pending = new ConcurrentLinkedQueue<>();
  // Set before other threads can use the connection.
  private @Nullable Channel channel;
  private @Nullable CallerWrites<Request> writes;
  // Used by the event loop only.
  private boolean flushScheduled;
  private boolean held;
  private volatile @Nullable IOException ended;
  private volatile boolean open;
  private volatile @Nullable Runnable whenWritable;
  private @Nullable Compressor compressor;
  // Written before the pool adds the connection, or by the pool under its lock.
  private volatile @Nullable Handshake handshake;
  private Duration maxOpening = Duration.ZERO;

  private static final class Request {
    private final ByteBuf message;
    private final @Nullable ReplyHandler handler;
    private int id;

    Request(ByteBuf message, @Nullable ReplyHandler handler) {
      this.message = message;
      this.handler = handler;
    }

    void failed(IOException cause) {
      if (handler != null) {
        handler.failed(cause);
      }
    }
  }

  private WireConnection(ServerAddressName server, EventLoop loop) {
    this.server = server;
    this.loop = loop;
  }

  /** Connects and authenticates. */
  static Mono<WireConnection> open(
      EventLoop loop, ServerAddressName server, WireSettings settings) {
    return addresses(server, settings)
        .flatMap(addresses -> connectToFirst(loop, server, settings, addresses))
        .flatMap(
            connection ->
                connection
                    .introduce(settings)
                    .doOnError(e -> connection.close())
                    .doOnCancel(connection::close)
                    .thenReturn(connection));
  }

  /** Sends hello and authenticates. */
  private Mono<Void> introduce(WireSettings settings) {
    Handshake first = new Handshake(settings.handshake(), server.host(), this::command);
    handshake = first;
    maxOpening = settings.maxOpening();
    return limited(
        first
            .run()
            .doOnNext(hello -> compressor = Compressor.agreed(hello, settings.compressors()))
            .then());
  }

  private Mono<Void> limited(Mono<Void> authentication) {
    return within(maxOpening, authentication, server)
        .onErrorMap(AuthenticationFailure.class, e -> new ServerRefusedException(server, e));
  }

  @Override
  public boolean authenticates() {
    Handshake first = handshake;
    return first != null && first.authenticates();
  }

  /** Authenticates again, while no other request is in flight. */
  void authenticateAgain(Runnable done, Consumer<Throwable> failed) {
    Handshake first = handshake;
    if (first == null) {
      failed.accept(closed());
      return;
    }
    limited(first.again()).subscribe(nothing -> {}, failed, done, LateErrors.LOGGED);
  }

  private static Mono<List<InetSocketAddress>> addresses(
      ServerAddressName server, WireSettings settings) {
    Duration limit = settings.sockets().connectTimeout();
    WireSettings.Proxy proxy = settings.sockets().proxy();
    Mono<List<InetSocketAddress>> addresses =
        settings.addresses().of(proxy == null ? server : proxy.address());
    Mono<List<InetSocketAddress>> limited =
        limit.isZero()
            ? addresses
            : addresses.timeout(
                limit,
                Mono.error(
                    () ->
                        new UnknownHostException(
                            "its name was not resolved within " + limit.toMillis() + " ms")));
    return limited.onErrorMap(e -> unreachable(server, e));
  }

  /**
   * Tries the addresses one after another, as the driver does: each attempt has the whole connect
   * timeout.
   */
  private static Mono<WireConnection> connectToFirst(
      EventLoop loop,
      ServerAddressName server,
      WireSettings settings,
      List<InetSocketAddress> addresses) {
    if (addresses.isEmpty()) {
      return Mono.error(unreachable(server, new UnknownHostException("its name has no address")));
    }
    Mono<WireConnection> first = connect(loop, server, settings, addresses.get(0));
    List<InetSocketAddress> others = addresses.subList(1, addresses.size());
    return others.isEmpty()
        ? first
        : first.onErrorResume(e -> connectToFirst(loop, server, settings, others));
  }

  private static Mono<WireConnection> connect(
      EventLoop loop, ServerAddressName server, WireSettings settings, InetSocketAddress address) {
    return Mono.create(
        sink -> {
          WireConnection connection = new WireConnection(server, loop);
          try {
            EventLoops.afterEvents(
                loop,
                () -> orFail(server, sink, () -> connection.connect(settings, address, sink)));
          } catch (RejectedExecutionException e) {
            sink.error(unreachable(server, e));
          }
        });
  }

  private void connect(
      WireSettings settings, InetSocketAddress address, MonoSink<WireConnection> sink) {
    // A proxy resolves the server's name itself, so the destination is the name and not an address.
    WireSettings.Proxy proxy = settings.sockets().proxy();
    ChannelFuture connecting =
        bootstrap(settings, address)
            .connect(proxy == null ? address : WireSettings.Proxy.destination(server));
    if (connecting.cause() != null) {
      // There is no channel to close. For example, no file descriptor was left.
      sink.error(unreachable(server, connecting.cause()));
      return;
    }
    connecting.addListener(
        (ChannelFuture done) ->
            orFail(
                server,
                sink,
                () -> {
                  if (done.isSuccess()) {
                    connected(done.channel(), sink::success, sink::error);
                  } else {
                    sink.error(unreachable(server, done.cause()));
                  }
                }));
    sink.onCancel(() -> connecting.channel().close());
  }

  /** Runs a step of connecting. Any exception fails the connection attempt. */
  private static void orFail(
      ServerAddressName server, MonoSink<WireConnection> sink, Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      sink.error(unreachable(server, e));
    }
  }

  private static Mono<Void> within(
      Duration limit, Mono<Void> authentication, ServerAddressName server) {
    return limit.isZero()
        ? authentication
        : authentication.timeout(
            limit,
            Mono.error(
                () ->
                    new IOException(
                        server
                            + " has not finished the handshake in "
                            + limit.toMillis()
                            + " ms")));
  }

  private Bootstrap bootstrap(WireSettings settings, InetSocketAddress address) {
    WireSettings.Sockets sockets = settings.sockets();
    int timeout = Math.toIntExact(sockets.connectTimeout().toMillis());
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(sockets.channelClass())
            .disableResolver()
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeout)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    if (sockets.proxy() != null) {
                      ch.pipeline()
                          .addLast(sockets.proxy().newHandler(address, sockets.connectTimeout()));
                    }
                    WireSettings.Tls tls = settings.tls();
                    if (tls != null) {
                      SslHandler handler = new SslHandler(tls.newEngine(server));
                      handler.setHandshakeTimeoutMillis(timeout);
                      ch.pipeline().addLast(handler);
                    }
                    ch.pipeline().addLast(new WireFrames(), new Replies());
                  }
                });
    if (sockets.localAddress() != null) {
      bootstrap.localAddress(sockets.localAddress());
    }
    if (sockets.sendBufferBytes() > 0) {
      bootstrap.option(ChannelOption.SO_SNDBUF, sockets.sendBufferBytes());
    }
    if (sockets.receiveBufferBytes() > 0) {
      bootstrap.option(ChannelOption.SO_RCVBUF, sockets.receiveBufferBytes());
    }
    return bootstrap;
  }

  private void connected(
      Channel connected, Consumer<WireConnection> ready, Consumer<Throwable> failed) {
    channel = connected;
    open = true;
    ProxyHandler proxy = connected.pipeline().get(ProxyHandler.class);
    if (proxy == null) {
      secured(connected, ready, failed);
      return;
    }
    proxy
        .connectFuture()
        .addListener(
            through -> {
              if (through.isSuccess()) {
                secured(connected, ready, failed);
              } else {
                close();
                failed.accept(unreachable(server, through.cause()));
              }
            });
  }

  private void secured(
      Channel connected, Consumer<WireConnection> ready, Consumer<Throwable> failed) {
    SslHandler tls = connected.pipeline().get(SslHandler.class);
    if (tls == null) {
      if (connected instanceof CallerWritesChannel socket) {
        writes = new CallerWrites<>(socket, this::encode, this::notWritten);
      }
      ready.accept(this);
      return;
    }
    tls.handshakeFuture()
        .addListener(
            shaken -> {
              if (shaken.isSuccess()) {
                ready.accept(this);
              } else {
                close();
                failed.accept(unreachable(server, shaken.cause()));
              }
            });
  }

  static IOException unreachable(ServerAddressName server, Throwable cause) {
    if (cause instanceof NoSocketException none) {
      return none;
    }
    if (cause instanceof ChannelException && cause.getCause() != null) {
      return new NoSocketException(server, cause.getCause());
    }
    return new IOException("cannot connect to " + server + ": " + cause.getMessage(), cause);
  }

  private Mono<BsonDocument> command(BsonDocument command) {
    return Mono.create(
        sink -> {
          ByteBuf message = io.netty.buffer.ByteBufAllocator.DEFAULT.buffer(512);
          OpMsg.command(command).encode(message);
          send(
              message,
              new ReplyHandler() {
                @Override
                public void replied(ByteBuf reply) {
                  answer(sink, server, reply, OpMsg::body);
                }

                @Override
                public void failed(IOException cause) {
                  sink.error(cause);
                }
              });
        });
  }

  /**
   * Passes a reply to a waiting subscriber, or an error if the reply cannot be decoded; the error
   * also ends the connection.
   */
  static <T> void answer(
      MonoSink<T> sink, ServerAddressName server, ByteBuf reply, Function<OpMsg, T> part) {
    T answer;
    try {
      answer = part.apply(OpMsg.decode(reply));
    } catch (RuntimeException e) {
      sink.error(new IOException("unreadable reply of " + server, e));
      throw e;
    }
    sink.success(answer);
  }

  /** Sends a request with a new request id. */
  @Override
  public void send(ByteBuf message, @Nullable ReplyHandler handler) {
    Request request = new Request(message, handler);
    CallerWrites<Request> now = writes;
    if (now != null) {
      now.send(request);
    } else if (!EventLoops.run(loop, () -> write(request))) {
      notSent(request);
    }
  }

  private void write(Request request) {
    Channel connected = channel;
    if (connected == null || !connected.isActive()) {
      notSent(request);
      return;
    }
    boolean first = pending.isEmpty();
    ByteBuf sent = encode(request);
    if (sent == null) {
      return;
    }
    connected.write(sent, connected.voidPromise());
    // Messages that are written in one iteration of the event loop are sent in one system call.
    if (first) {
      connected.flush();
    } else if (!flushScheduled) {
      flushScheduled = true;
      loop.execute(
          () -> {
            flushScheduled = false;
            connected.flush();
          });
    }
  }

  /** Encodes the next request; null if it cannot be sent. */
  private @Nullable ByteBuf encode(Request request) {
    ByteBuf message = request.message;
    ByteBuf sent;
    try {
      request.id = REQUEST_IDS.incrementAndGet();
      message.setIntLE(message.readerIndex() + 4, request.id);
      sent = compressor == null ? message : compressor.compress(message);
    } catch (RuntimeException e) {
      // The connection is closed here, because a failed request does not return it to the pool.
      close();
      request.failed(new IOException("cannot compress a request to " + server, e));
      return null;
    }
    if (request.handler != null) {
      pending.add(request);
      if (ended != null) {
        // If the connection ended before the request was added, only this call fails the request.
        failPending();
      }
    }
    return sent;
  }

  private void notSent(Request request) {
    request.message.release();
    request.failed(closed());
  }

  @Override
  boolean isOn(EventLoop other) {
    return loop == other;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public boolean isWritable() {
    return channel != null && channel.isWritable();
  }

  @Override
  public long unsentBytes() {
    ChannelOutboundBuffer buffer = channel == null ? null : channel.unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.totalPendingWriteBytes();
  }

  @Override
  public void whenWritable(Runnable action) {
    whenWritable = action;
  }

  @Override
  public void close() {
    open = false;
    if (channel != null) {
      channel.close();
    }
  }

  @Override
  public void abort(IOException why) {
    open = false;
    endOnLoop(why);
    close();
  }

  private void notWritten(IOException why) {
    endOnLoop(failed(why));
    close();
  }

  private void endOnLoop(IOException why) {
    if (!EventLoops.run(loop, () -> end(why))) {
      end(why);
    }
  }

  private void end(IOException cause) {
    open = false;
    synchronized (this) {
      if (ended == null) {
        ended = cause;
      }
    }
    failPending();
    runWhenClosed();
  }

  private void failPending() {
    IOException cause = Objects.requireNonNull(ended);
    for (Request next = pending.poll(); next != null; next = pending.poll()) {
      next.failed(cause);
    }
  }

  private IOException failed(Throwable cause) {
    boolean noMessage =
        cause instanceof TooLongFrameException || cause instanceof CorruptedFrameException;
    String why = "connection to " + server + " failed: ";
    return noMessage
        ? new ProtocolException(
            why
                + "a message has a length that MongoDB's protocol does not"
                + " allow: "
                + cause.getMessage())
        : new IOException(why + cause.getMessage(), cause);
  }

  private IOException closed() {
    return new IOException("connection to " + server + " is closed");
  }

  private final class Replies extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf frame = (ByteBuf) message;
      if (CompressedMessages.isCompressed(frame)) {
        try {
          replied(CompressedMessages.expandWhole(frame));
        } finally {
          frame.release();
        }
      } else {
        replied(frame);
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      release();
      context.fireChannelReadComplete();
    }

    private void release() {
      if (held && writes != null) {
        held = false;
        writes.release();
      }
    }

    private void replied(ByteBuf frame) {
      try {
        Request next = pending.poll();
        if (writes != null && !held && !pending.isEmpty()) {
          // Several replies may cause further requests, which are then written together.
          held = writes.hold();
        }
        String wrong = wrong(frame, next);
        if (next == null || wrong != null) {
          WireProtocolException why = new WireProtocolException(server + " " + wrong);
          if (next != null) {
            next.failed(new ProtocolException("unreadable reply: " + why.getMessage()));
          }
          // After an invalid message, the later bytes of this connection have no reliable meaning.
          throw why;
        }
        Objects.requireNonNull(next.handler).replied(frame);
      } finally {
        frame.release();
      }
    }

    /** The reason why a reply is invalid; null if it is valid. */
    private @Nullable String wrong(ByteBuf frame, @Nullable Request next) {
      if (frame.readableBytes() < OpMsg.HEADER_BYTES) {
        return "sent a message of " + frame.readableBytes() + " bytes";
      }
      int opCode = frame.getIntLE(frame.readerIndex() + 12);
      if (opCode != OpMsg.OP_MSG) {
        return "sent a message of op code " + opCode + ", which is not the op code of a reply";
      }
      int responseTo = OpMsg.responseTo(frame);
      return next == null || next.id != responseTo
          ? "sent a reply to request " + responseTo + ", which is not the oldest open request"
          : null;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      release();
      end(open ? new IOException(server + " closed the connection") : closed());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      release();
      end(failed(cause));
      context.close();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      Runnable action = whenWritable;
      if (action != null && context.channel().isWritable()) {
        action.run();
      }
      context.fireChannelWritabilityChanged();
    }
  }
}
