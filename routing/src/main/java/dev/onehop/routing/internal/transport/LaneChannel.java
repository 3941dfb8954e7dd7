package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.InProcessChannel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * A lane as the driver's own Netty code sees it: a socket channel that connects, takes the bytes of
 * requests and brings those of replies.
 *
 * <p>Lives on the event loop of a {@link LaneGroup} and on no other.
 */
public final class LaneChannel extends InProcessChannel {
  private @Nullable Lane lane;

  /** For the driver, which makes its channels by reflection of its own. */
  public LaneChannel() {}

  private Multiplexer multiplexer() {
    if (eventLoop().parent() instanceof LaneGroup group) {
      return group.multiplexer();
    }
    throw new IllegalStateException("a lane lives on the event loops of a PipelinedTransport only");
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return loop.parent() instanceof LaneGroup;
  }

  @Override
  protected void connect(InetSocketAddress address) {
    SSLEngine engine = TlsEngines.take(pipeline());
    LaneOptions options =
        new LaneOptions(
            config().getConnectTimeoutMillis(),
            config().getReceiveBufferSize(),
            config().getSendBufferSize(),
            config().getAllocator(),
            engine);
    String tlsName = engine == null ? null : String.valueOf(engine.getPeerHost());
    multiplexer().connect(new ServerKey(address, tlsName), options, new End());
  }

  @Override
  protected boolean offer(ByteBuf message) throws PipelineException {
    return lane != null && lane.offer(message);
  }

  @Override
  protected void closed() {
    if (lane != null) {
      lane.close();
    }
  }

  /** What the lane tells the driver. */
  private final class End implements LaneEnd {
    @Override
    public void attached(Lane attached) {
      lane = attached;
    }

    @Override
    public void connected() {
      LaneChannel.this.connected();
    }

    @Override
    public void connectFailed(Throwable cause) {
      LaneChannel.this.connectFailed(cause);
    }

    @Override
    public void deliver(ByteBuf reply) {
      LaneChannel.this.deliver(reply);
    }

    @Override
    public void fail(PipelineException cause) {
      LaneChannel.this.fail(cause);
    }

    @Override
    public void mayWrite() {
      // Not inside of what another lane does: the driver runs one callback at a time on a thread.
      eventLoop().execute(LaneChannel.this::mayWrite);
    }
  }
}
