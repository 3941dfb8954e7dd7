package dev.onehop.routing.internal.transport;

import io.netty.buffer.ByteBufAllocator;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * What the driver asked of one connection.
 *
 * @param connectTimeoutMillis 0 for none
 * @param receiveBufferBytes 0 for the system's choice
 * @param sendBufferBytes 0 for the system's choice
 * @param allocator for messages
 * @param engine as the driver has set it up, unused; null without TLS
 */
record LaneOptions(
    int connectTimeoutMillis,
    int receiveBufferBytes,
    int sendBufferBytes,
    ByteBufAllocator allocator,
    @Nullable SSLEngine engine) {
  /** The same with another timeout and another engine. */
  LaneOptions with(int otherTimeoutMillis, @Nullable SSLEngine otherEngine) {
    return new LaneOptions(
        otherTimeoutMillis, receiveBufferBytes, sendBufferBytes, allocator, otherEngine);
  }
}
