package dev.onehop.routing.spi.wire;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannelConfig;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The socket options of a channel that has no socket: the driver sets them, and nothing uses them.
 */
final class InProcessChannelConfig extends DefaultChannelConfig implements SocketChannelConfig {
  private int receiveBufferSize;
  private int sendBufferSize;
  private int soLinger = -1;
  private int trafficClass;
  private boolean keepAlive;
  private boolean reuseAddress;
  private boolean tcpNoDelay;
  private boolean allowHalfClosure;

  InProcessChannelConfig(InProcessChannel channel) {
    super(channel);
  }

  @Override
  public Map<ChannelOption<?>, Object> getOptions() {
    return getOptions(
        super.getOptions(),
        ChannelOption.SO_RCVBUF,
        ChannelOption.SO_SNDBUF,
        ChannelOption.TCP_NODELAY,
        ChannelOption.SO_KEEPALIVE);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T> @Nullable T getOption(ChannelOption<T> option) {
    if (option.equals(ChannelOption.SO_RCVBUF)) {
      return (T) Integer.valueOf(receiveBufferSize);
    }
    if (option.equals(ChannelOption.SO_SNDBUF)) {
      return (T) Integer.valueOf(sendBufferSize);
    }
    if (option.equals(ChannelOption.TCP_NODELAY)) {
      return (T) Boolean.valueOf(tcpNoDelay);
    }
    if (option.equals(ChannelOption.SO_KEEPALIVE)) {
      return (T) Boolean.valueOf(keepAlive);
    }
    return super.getOption(option);
  }

  @Override
  public <T> boolean setOption(ChannelOption<T> option, T value) {
    validate(option, value);
    if (option.equals(ChannelOption.SO_RCVBUF)) {
      receiveBufferSize = (Integer) value;
    } else if (option.equals(ChannelOption.SO_SNDBUF)) {
      sendBufferSize = (Integer) value;
    } else if (option.equals(ChannelOption.TCP_NODELAY)) {
      tcpNoDelay = (Boolean) value;
    } else if (option.equals(ChannelOption.SO_KEEPALIVE)) {
      keepAlive = (Boolean) value;
    } else {
      return super.setOption(option, value);
    }
    return true;
  }

  @Override
  public boolean isTcpNoDelay() {
    return tcpNoDelay;
  }

  @Override
  public SocketChannelConfig setTcpNoDelay(boolean on) {
    tcpNoDelay = on;
    return this;
  }

  @Override
  public int getSoLinger() {
    return soLinger;
  }

  @Override
  public SocketChannelConfig setSoLinger(int seconds) {
    soLinger = seconds;
    return this;
  }

  @Override
  public int getSendBufferSize() {
    return sendBufferSize;
  }

  @Override
  public SocketChannelConfig setSendBufferSize(int bytes) {
    sendBufferSize = bytes;
    return this;
  }

  @Override
  public int getReceiveBufferSize() {
    return receiveBufferSize;
  }

  @Override
  public SocketChannelConfig setReceiveBufferSize(int bytes) {
    receiveBufferSize = bytes;
    return this;
  }

  @Override
  public boolean isKeepAlive() {
    return keepAlive;
  }

  @Override
  public SocketChannelConfig setKeepAlive(boolean on) {
    keepAlive = on;
    return this;
  }

  @Override
  public int getTrafficClass() {
    return trafficClass;
  }

  @Override
  public SocketChannelConfig setTrafficClass(int value) {
    trafficClass = value;
    return this;
  }

  @Override
  public boolean isReuseAddress() {
    return reuseAddress;
  }

  @Override
  public SocketChannelConfig setReuseAddress(boolean on) {
    reuseAddress = on;
    return this;
  }

  @Override
  public SocketChannelConfig setPerformancePreferences(int time, int latency, int bandwidth) {
    return this;
  }

  @Override
  public boolean isAllowHalfClosure() {
    return allowHalfClosure;
  }

  @Override
  public SocketChannelConfig setAllowHalfClosure(boolean on) {
    allowHalfClosure = on;
    return this;
  }

  @Override
  public SocketChannelConfig setConnectTimeoutMillis(int millis) {
    super.setConnectTimeoutMillis(millis);
    return this;
  }

  @Override
  @Deprecated
  public SocketChannelConfig setMaxMessagesPerRead(int number) {
    super.setMaxMessagesPerRead(number);
    return this;
  }

  @Override
  public SocketChannelConfig setWriteSpinCount(int count) {
    super.setWriteSpinCount(count);
    return this;
  }

  @Override
  public SocketChannelConfig setAllocator(ByteBufAllocator allocator) {
    super.setAllocator(allocator);
    return this;
  }

  @Override
  public SocketChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
    super.setRecvByteBufAllocator(allocator);
    return this;
  }

  @Override
  public SocketChannelConfig setAutoRead(boolean on) {
    super.setAutoRead(on);
    return this;
  }

  @Override
  public SocketChannelConfig setAutoClose(boolean on) {
    super.setAutoClose(on);
    return this;
  }

  @Override
  public SocketChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
    super.setMessageSizeEstimator(estimator);
    return this;
  }

  @Override
  public SocketChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark mark) {
    super.setWriteBufferWaterMark(mark);
    return this;
  }
}
