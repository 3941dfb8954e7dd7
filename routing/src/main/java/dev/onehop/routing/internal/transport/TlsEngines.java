package dev.onehop.routing.internal.transport;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * TLS belongs to the socket, but the driver puts its handler into every connection's pipeline. The
 * engine in it knows everything the driver was told: certificates, name verification, SNI.
 */
final class TlsEngines {
  private TlsEngines() {}

  /** Takes the TLS engine out of a pipeline that is not connected yet; null if there is none. */
  static @Nullable SSLEngine take(ChannelPipeline pipeline) {
    SslHandler handler = pipeline.get(SslHandler.class);
    if (handler == null) {
      return null;
    }
    // Removing the handler gives up its hold on a native engine.
    SSLEngine engine = ReferenceCountUtil.retain(handler.engine());
    pipeline.remove(handler);
    return engine;
  }

  /** Gives up an engine that was never used. */
  static void release(@Nullable SSLEngine engine) {
    ReferenceCountUtil.release(engine);
  }
}
