package dev.onehop.testbed.standin;

import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;

/**
 * Makes each request cost a certain processor time, for a stand-in that shall cost what a mongos
 * costs. The thread that serves requests looks at what it has used itself since the last one, and
 * computes for the rest of the time: it calibrates itself, request by request. It does not sleep,
 * and it is processor time that counts: a busy machine makes a request wait, and not cost less.
 *
 * <p>How much is set by the command <code>{setParameter: 1, standInMicrosPerRequest: N}</code>. One
 * for all connections of a router. Thread-safe.
 */
final class BusyTime {
  /** The parameter's name. */
  static final String PARAMETER = "standInMicrosPerRequest";

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final ByteBuf COMMAND =
      Unpooled.unreleasableBuffer(
          Unpooled.copiedBuffer("setParameter\0", StandardCharsets.US_ASCII).asReadOnly());

  /**
   * Header of 16 bytes, flags, kind of section, the document's length, the type of its first
   * element.
   */
  private static final int NAME_AT = 16 + 4 + 1 + 4 + 1;

  /**
   * What one request has used too much is taken from the next ones, but from no more than these.
   */
  private static final int MOST_AHEAD = 10;

  private volatile long nanos;
  private final ThreadLocal<Account> accounts = ThreadLocal.withInitial(Account::new);

  /** What a thread's requests shall still cost, negative if they have cost too much. */
  private static final class Account {
    private long last = THREADS.getCurrentThreadCpuTime();
    private long owed;
  }

  /** For one connection; stands before the one that routes. */
  ChannelInboundHandlerAdapter handler() {
    return new Connection();
  }

  private static boolean sets(ByteBuf frame) {
    int name = frame.readerIndex() + NAME_AT;
    int length = COMMAND.readableBytes();
    return frame.writerIndex() >= name + length
        && !LegacyHello.is(frame)
        && ByteBufUtil.equals(frame, name, COMMAND, COMMAND.readerIndex(), length);
  }

  private BsonDocument set(BsonDocument command) {
    long before = nanos;
    if (!command.isNumber(PARAMETER) || command.getNumber(PARAMETER).longValue() < 0) {
      return new BsonDocument("ok", new BsonDouble(0))
          .append("code", new BsonInt32(72))
          .append("codeName", new BsonString("InvalidOptions"))
          .append("errmsg", new BsonString("a stand-in router has the parameter " + PARAMETER));
    }
    nanos = TimeUnit.MICROSECONDS.toNanos(command.getNumber(PARAMETER).longValue());
    return new BsonDocument("was", new BsonInt64(TimeUnit.NANOSECONDS.toMicros(before)))
        .append("ok", new BsonDouble(1));
  }

  /** Computes for the time that the requests of this thread have not used. */
  private void spend() {
    long each = nanos;
    if (each == 0) {
      return;
    }
    Account account = accounts.get();
    long now = THREADS.getCurrentThreadCpuTime();
    long owed = Math.max(account.owed + each - (now - account.last), -MOST_AHEAD * each);
    long end = now + Math.min(owed, each);
    while (THREADS.getCurrentThreadCpuTime() - end < 0) {
      Thread.onSpinWait();
    }
    account.last = Math.max(now, end);
    account.owed = Math.min(owed, 0);
  }

  private final class Connection extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf frame = (ByteBuf) message;
      if (!sets(frame)) {
        spend();
        context.fireChannelRead(message);
        return;
      }
      try {
        OpMsg request = OpMsg.decode(frame.duplicate());
        ByteBuf out = context.alloc().buffer();
        request.reply(0, set(request.body())).encode(out);
        context.writeAndFlush(out);
      } finally {
        frame.release();
      }
    }
  }
}
