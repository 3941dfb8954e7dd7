package dev.onehop.routing.internal.router;

import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.shards.request.LocalCommands;
import dev.onehop.shards.request.RequestLoop;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.NoAnswer;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.channel.InProcessChannel;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * A mongos in this process for reactive clients: the driver's connections lead to a {@link
 * CommandRouter}. Everything above the connections, from sessions to error types, is the driver's
 * own code.
 *
 * <p>The driver creates channels by reflection, so it can pass no router to the constructor. The
 * router chooses the event loops of the channels, and a channel finds its router by its event
 * loops.
 */
public final class VirtualMongos extends InProcessChannel {
  private static final Map<EventLoopGroup, Behind> BEHIND = new ConcurrentHashMap<>();
  // The longest time for which a new connection waits for the cluster. It is shorter than the
  // driver's connect timeout. So the connection opens in time, and its commands return the actual
  // error.
  public static final Duration START_TIMEOUT = Duration.ofSeconds(8);

  private @Nullable Set<VirtualMongos> siblings;
  private @Nullable RequestLoop requests;
  private @Nullable Disposable starting;

  private record Behind(
      CommandRouter router, LocalCommands local, CommandMeter meter, Set<VirtualMongos> channels) {}

  /** Called by the driver, which creates its channels by reflection. */
  public VirtualMongos() {}

  /** Connects the channels on these event loops to a router. */
  static void put(
      EventLoopGroup group, CommandRouter router, LocalCommands local, CommandMeter meter) {
    BEHIND.put(group, new Behind(router, local, meter, ConcurrentHashMap.newKeySet()));
  }

  /**
   * Disconnects these event loops from their router. The current requests on their channels fail,
   * because the loops end and would leave them unanswered.
   */
  static void remove(EventLoopGroup group) {
    Behind behind = BEHIND.remove(group);
    if (behind != null) {
      behind
          .channels()
          .forEach(channel -> EventLoops.run(channel.eventLoop(), channel::clientClosed));
    }
  }

  private void clientClosed() {
    if (isActive() && requests != null) {
      requests.clientClosed();
    } else {
      close();
    }
  }

  /** For tests: the number of open routers. */
  static int clients() {
    return BEHIND.size();
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return BEHIND.containsKey(loop.parent());
  }

  @Override
  protected void connect(InetSocketAddress address) {
    Behind behind = BEHIND.get(eventLoop().parent());
    if (behind == null) {
      throw new IllegalStateException("no router uses these event loops");
    }
    RequestLoop loop =
        new RequestLoop(
            behind.router(),
            behind.local(),
            RequestLoop.Turns.on(eventLoop(), behind.router()),
            alloc(),
            new ChannelReplies(),
            behind.meter());
    loop.opened();
    requests = loop;
    siblings = behind.channels();
    siblings.add(this);
    if (!behind.equals(BEHIND.get(eventLoop().parent()))) {
      throw new IllegalStateException("no router uses these event loops");
    }
    starting =
        behind
            .router()
            .startedOrSilent()
            .timeout(START_TIMEOUT, NoAnswer.within(START_TIMEOUT))
            .onErrorComplete()
            .subscribe(
                null, null, () -> EventLoops.run(eventLoop(), this::connected), LateErrors.LOGGED);
  }

  @Override
  protected void take(ByteBuf message) {
    if (requests != null) {
      requests.add(message.retain());
    }
  }

  @Override
  protected void closed() {
    if (siblings != null) {
      siblings.remove(this);
    }
    if (starting != null) {
      starting.dispose();
    }
    if (requests != null) {
      requests.closed();
    }
  }

  private final class ChannelReplies implements RequestLoop.Replies {
    @Override
    public void send(ByteBuf message) {
      deliver(message);
    }

    @Override
    public void idle() {
      // Nothing to do: the driver sends one request at a time.
    }

    @Override
    public boolean lost(IOException cause) {
      fail(cause);
      return true;
    }

    @Override
    public void refuse(WireProtocolException why) {
      fail(why);
    }
  }
}
