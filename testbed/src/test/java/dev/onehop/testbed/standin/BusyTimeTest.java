package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BusyTimeTest {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final BusyTime busyTime = new BusyTime();
  private final EmbeddedChannel client = new EmbeddedChannel(busyTime.handler());
  private final EmbeddedChannel another = new EmbeddedChannel(busyTime.handler());

  @AfterEach
  void close() {
    client.finishAndReleaseAll();
    another.finishAndReleaseAll();
  }

  private static ByteBuf frame(BsonDocument command) {
    ByteBuf out = Unpooled.buffer();
    OpMsg.command(command.append("$db", new BsonString("admin"))).encode(out);
    return out;
  }

  private BsonDocument set(int micros) {
    client.writeInbound(
        frame(
            new BsonDocument("setParameter", new BsonInt32(1))
                .append(BusyTime.PARAMETER, new BsonInt32(micros))));
    assertThat(client.<ByteBuf>readInbound()).isNull();
    ByteBuf reply = client.readOutbound();
    try {
      return OpMsg.decode(reply).body();
    } finally {
      reply.release();
    }
  }

  /** The processor time that a request takes, in microseconds. */
  private long micros() {
    long before = THREADS.getCurrentThreadCpuTime();
    another.writeInbound(frame(new BsonDocument("find", new BsonString("usertable"))));
    long used = (THREADS.getCurrentThreadCpuTime() - before) / 1_000;
    ByteBuf passed = another.readInbound();
    assertThat(passed).isNotNull();
    passed.release();
    return used;
  }

  @Test
  void requestsOfAllConnectionsCostWhatIsSetUntilItIsTakenBack() {
    assertThat(set(20_000).getNumber("ok").intValue()).isEqualTo(1);
    micros();
    assertThat(micros()).isBetween(15_000L, 40_000L);

    assertThat(set(0).getNumber("was").intValue()).isEqualTo(20_000);
    assertThat(micros()).isLessThan(15_000);
  }

  @Test
  void whatARequestUsesItselfIsPartOfTheCost() {
    set(20_000);
    micros();
    long used = THREADS.getCurrentThreadCpuTime() + 15_000_000;
    while (THREADS.getCurrentThreadCpuTime() < used) {
      Thread.onSpinWait();
    }

    assertThat(micros()).isLessThan(10_000);
  }

  @Test
  void aTimeThatIsNoneIsRefused() {
    assertThat(set(-1).getNumber("code").intValue()).isEqualTo(72);
  }
}
