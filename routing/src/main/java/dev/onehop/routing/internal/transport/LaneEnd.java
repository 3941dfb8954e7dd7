package dev.onehop.routing.internal.transport;

import io.netty.buffer.ByteBuf;

/** The driver's side of a lane. Called on the lane's event loop only. */
interface LaneEnd {
  /** Which lane this is the end of; the first call. */
  void attached(Lane lane);

  /** The lane may be used. */
  void connected();

  /** The lane never came up; it is closed after that. */
  void connectFailed(Throwable cause);

  /** A reply under the driver's own request id; the receiver releases it. */
  void deliver(ByteBuf reply);

  /** The lane is broken; it is closed after that. */
  void fail(PipelineException cause);

  /** A request that was turned away may be offered again. */
  void mayWrite();
}
