package dev.onehop.wire.message;

import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.nio.ByteOrder;

/**
 * Cuts a byte stream into wire protocol messages. A message begins with its length, which includes
 * the length field.
 */
public final class WireFrames extends LengthFieldBasedFrameDecoder {

  public WireFrames() {
    super(ByteOrder.LITTLE_ENDIAN, OpMsg.MAX_MESSAGE_BYTES, 0, 4, -4, 0, true);
  }
}
