package dev.onehop.wire.connection;

import dev.onehop.wire.LateErrors;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.CallerRunsEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The connections to one server on event loops. Each connection serves one request at a time. With
 * {@link WireSettings.Sharing}, short requests share additional connections.
 *
 * <p>Thread-safe.
 */
final class EventLoopServerPool extends ServerPool<WireConnection, Exchange>
    implements Exchange.Pool {
  private final EventLoopGroup group;
  private final WireSettings settings;
  private final @Nullable SharedConnections shared;
  private final @Nullable SharingMeters meters;

  EventLoopServerPool(
      ServerAddressName server,
      EventLoopGroup group,
      WireSettings settings,
      ConnectionSlots slots) {
    super(server, settings.pool(), slots, false);
    this.group = group;
    this.settings = settings;
    WireSettings.Sharing sharing = settings.sharing();
    if (sharing == null) {
      this.meters = null;
      this.shared = null;
    } else {
      EventLoop loop = group.next();
      this.meters = new SharingMeters(sharing.meters(), server.toString(), this::open);
      this.shared =
          new SharedConnections(
              server,
              new CallerRunsEventLoop(loop),
              settings.pool(),
              sharing,
              meters,
              new ForShared(),
              () -> WireConnection.open(loop, server, settings),
              System::nanoTime);
    }
  }

  private final class ForShared implements SharedConnections.Pool {
    @Override
    public int generation() {
      return EventLoopServerPool.this.generation();
    }

    @Override
    public boolean hasRoom() {
      return EventLoopServerPool.this.hasRoom();
    }

    @Override
    public void takeOwn(Exchange exchange) {
      EventLoopServerPool.this.takeOwn(null, exchange);
    }

    @Override
    public void clear(int born) {
      EventLoopServerPool.this.clear(born);
    }
  }

  @Override
  public boolean isShared() {
    return shared != null;
  }

  /** Assigns a connection to the exchange, now or as soon as one is available. */
  void take(@Nullable EventLoop preferred, Exchange exchange) {
    if (shared != null && exchange.mayShare()) {
      shared.take(exchange);
    } else {
      takeOwn(preferred, exchange);
    }
  }

  private void takeOwn(@Nullable EventLoop preferred, Exchange exchange) {
    if (meters != null) {
      meters.own();
    }
    WireConnection ready = take(exchange, preferred);
    if (ready != null) {
      exchange.use(ready);
      if (preferred != null && !ready.isOn(preferred)) {
        growOn(preferred);
      }
    }
  }

  @Override
  EventLoop nextLoop() {
    return group.next();
  }

  @Override
  void open(Opening opening, @Nullable Exchange waiter) {
    try {
      opening.abort.by(
          WireConnection.open(Objects.requireNonNull(opening.loop), server(), settings)
                  .subscribe(
                      connection -> opened(opening, connection),
                      failure -> notOpened(opening, failure),
                      null,
                      LateErrors.LOGGED)
              ::dispose);
    } catch (Throwable failure) {
      notOpened(opening, WireConnection.unreachable(server(), failure));
    }
  }

  @Override
  boolean hand(Exchange exchange, WireConnection connection) {
    exchange.use(connection);
    return true;
  }

  @Override
  void fail(Exchange exchange, Throwable why) {
    exchange.unable(why);
  }

  @Override
  void failed() {
    if (meters != null) {
      meters.failure();
    }
  }

  @Override
  void cleared(int now, @Nullable IOException why) {
    if (shared != null) {
      shared.clear(now, why);
    }
  }

  @Override
  public void forget(Exchange exchange) {
    leave(exchange);
    if (shared != null && exchange.mayShare()) {
      shared.forget(exchange);
    }
  }

  @Override
  void sweep(long now) {
    if (shared != null) {
      shared.sweep();
    }
    super.sweep(now);
  }

  @Override
  void close() {
    super.close();
    if (shared != null) {
      shared.close();
    }
  }
}
