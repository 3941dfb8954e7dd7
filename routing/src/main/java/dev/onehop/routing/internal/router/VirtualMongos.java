package dev.onehop.routing.internal.router;

import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.shards.request.LocalCommands;
import dev.onehop.shards.request.RequestLoop;
import dev.onehop.wire.LateErrors;
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
 * A mongos in this process, as the official driver's connections see it: they end in a {@link
 * CommandRouter}. So everything above, from sessions to error types, is the driver's own.
 *
 * <p>The driver makes its channels by class, without arguments, but lets us say on which event
 * loops they live; by these they find what they lead to.
 */
public final class VirtualMongos extends InProcessChannel {
  private static final Map<EventLoopGroup, Behind> BEHIND = new ConcurrentHashMap<>();
  // Less than the driver's timeout for connecting; what went wrong is then said to the commands.
  public static final Duration START_TIMEOUT = Duration.ofSeconds(8);

  private @Nullable Set<VirtualMongos> siblings;
  private @Nullable RequestLoop requests;
  private @Nullable Disposable starting;

  private record Behind(
      CommandRouter router, LocalCommands local, CommandMeter meter, Set<VirtualMongos> channels) {}

  /** For the driver, which makes its channels by reflection of its own. */
  public VirtualMongos() {}

  /** Lets the channels on these event loops lead to a router. */
  static void put(
      EventLoopGroup group, CommandRouter router, LocalCommands local, CommandMeter meter) {
    BEHIND.put(group, new Behind(router, local, meter, ConcurrentHashMap.newKeySet()));
  }

  /**
   * Nothing is behind these event loops any more. What is under way on their channels fails: the
   * loops end, and would leave it unanswered.
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

  /** For tests: how many clients there are. */
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
      throw new IllegalStateException("nothing is behind these event loops");
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
      throw new IllegalStateException("nothing is behind these event loops");
    }
    starting =
        behind
            .router()
            .startedOrSilent()
            .timeout(START_TIMEOUT)
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
      // The driver sends one request at a time.
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
