package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.CommandHead;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Connections to any number of servers, one request at a time on each: a request takes an idle
 * connection, or waits for one that is opened or given back. With {@link WireSettings.Sharing},
 * short requests share some connections instead.
 *
 * <p>Thread-safe.
 */
public final class WirePool implements AutoCloseable {
  private static final long SWEEP_MILLIS = 500;

  private final EventLoopGroup group;
  private final WireSettings settings;
  private final Function<ServerAddressName, ConnectionSlots> slots;
  private final Map<ServerAddressName, ServerPool> servers = new ConcurrentHashMap<>();
  private final Future<?> sweeping;
  private volatile boolean closed;

  /**
   * @param group event loops of the connections; stays the caller's
   */
  public WirePool(EventLoopGroup group, WireSettings settings) {
    this(group, settings, server -> new ConnectionSlots(settings.pool()));
  }

  /**
   * @param slots of each server, which other pools may use, too
   */
  WirePool(
      EventLoopGroup group,
      WireSettings settings,
      Function<ServerAddressName, ConnectionSlots> slots) {
    this.slots = slots;
    this.group = group;
    this.settings = settings;
    this.sweeping =
        group
            .next()
            .scheduleWithFixedDelay(
                () -> Each.of(servers.values(), pool -> pool.sweep(System.nanoTime())),
                SWEEP_MILLIS,
                SWEEP_MILLIS,
                TimeUnit.MILLISECONDS);
  }

  /**
   * Sends a request and gives its answer.
   *
   * @return the reply, empty if the request expects none; a {@link NotSentException} if the server
   *     can't be reached, another {@link IOException} if the connection breaks, a {@link
   *     ServerRefusedException} if it does not take the user
   */
  public Mono<OpMsg> send(ServerAddressName server, OpMsg request) {
    return Mono.create(
        sink -> {
          ByteBuf message = ByteBufAllocator.DEFAULT.buffer(512);
          request.encode(message);
          Exchange exchange =
              exchange(
                  server,
                  null,
                  message,
                  request.expectsReply(),
                  use(headOf(message)),
                  new Exchange.Outcome() {
                    @Override
                    public void replied(ByteBuf reply) {
                      WireConnection.answer(sink, server, reply, answer -> answer);
                    }

                    @Override
                    public void sent() {
                      sink.success();
                    }

                    @Override
                    public void failed(Throwable cause) {
                      sink.error(cause);
                    }

                    @Override
                    public void unsent(Throwable cause) {
                      sink.error(NotSentException.of(cause));
                    }
                  });
          sink.onCancel(exchange::cancel);
        });
  }

  /**
   * Sends a request without more ado.
   *
   * @param preferred the event loop whose connections to prefer, null for any
   * @param message the whole message, taken over; its id is given when it is sent
   * @param head of the message; used before this returns
   * @param outcome told what became of it, on an event loop, or at once if there is no connection
   */
  public Exchange exchange(
      ServerAddressName server,
      @Nullable EventLoop preferred,
      ByteBuf message,
      CommandHead head,
      Exchange.Outcome outcome) {
    return exchange(server, preferred, message, head.expectsReply(), use(head), outcome);
  }

  private SharingRules.Use use(@Nullable CommandHead head) {
    WireSettings.Sharing sharing = settings.sharing();
    return sharing == null
        ? SharingRules.Use.OWN
        : SharingRules.use(head, sharing.maxSharedBytes());
  }

  /** Null if it can't be read, or is of no interest. */
  private @Nullable CommandHead headOf(ByteBuf message) {
    try {
      return settings.sharing() == null ? null : CommandHead.read(message);
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      return null;
    }
  }

  private Exchange exchange(
      ServerAddressName server,
      @Nullable EventLoop preferred,
      ByteBuf message,
      boolean expectsReply,
      SharingRules.Use use,
      Exchange.Outcome outcome) {
    ServerPool pool =
        servers.computeIfAbsent(
            server, name -> new ServerPool(name, group, settings, slots.apply(name)));
    Exchange exchange = new Exchange(pool, message, expectsReply, use, outcome);
    if (closed) {
      exchange.unable(ServerPool.clientIsClosed());
    } else {
      pool.take(preferred, exchange);
    }
    return exchange;
  }

  /**
   * Uses no connection to a server again that was opened before, for the server is gone or was.
   *
   * @param interrupt whether what is under way there fails now, too, with {@code why}
   */
  public void reset(ServerAddressName server, boolean interrupt, IOException why) {
    ServerPool pool = servers.get(server);
    if (pool != null) {
      pool.reset(interrupt, why);
    }
  }

  /** The servers that anything was sent to. */
  public Set<ServerAddressName> servers() {
    return Set.copyOf(servers.keySet());
  }

  /**
   * Closes the connections that are idle or not open yet now, the others when their request is
   * answered.
   */
  @Override
  public void close() {
    closed = true;
    sweeping.cancel(false);
    Each.of(servers.values(), ServerPool::close);
  }
}
