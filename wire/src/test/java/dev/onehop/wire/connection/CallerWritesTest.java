package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.channel.CallerWritesChannel;
import dev.onehop.wire.channel.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Messages that several threads write to one socket arrive whole, and the messages of each thread
 * in order.
 */
@Timeout(60)
class CallerWritesTest {
  private static final int THREADS = 4;

  private final EventLoopGroup group = EventLoops.newCallerWritesGroup("caller-writes-test", 1);
  private final CompletableFuture<IOException> broken = new CompletableFuture<>();
  private ServerSocket server;
  private CallerWritesChannel channel;
  private Socket peer;
  private CallerWrites<ByteBuf> writes;

  @BeforeEach
  void connect() throws IOException {
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    channel =
        (CallerWritesChannel)
            new Bootstrap()
                .group(group)
                .channel(CallerWritesChannel.class)
                .handler(new ChannelInboundHandlerAdapter())
                .connect(server.getLocalSocketAddress())
                .syncUninterruptibly()
                .channel();
    peer = server.accept();
    writes = new CallerWrites<>(channel, message -> message, broken::complete);
  }

  @AfterEach
  void close() throws IOException {
    peer.close();
    server.close();
    channel.close().syncUninterruptibly();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /**
   * A message with its length, the thread, a number, and bytes that are calculated from these; in
   * one buffer or in several.
   */
  private static ByteBuf message(int thread, int number, int size, boolean composite) {
    ByteBuf head = ByteBufAllocator.DEFAULT.buffer(12);
    head.writeInt(size).writeInt(thread).writeInt(number);
    ByteBuf content = composite ? ByteBufAllocator.DEFAULT.buffer(size) : head;
    for (int n = 0; n < size; n++) {
      content.writeByte(number + n);
    }
    return composite
        ? ByteBufAllocator.DEFAULT.compositeBuffer().addComponents(true, head, content)
        : head;
  }

  private List<Thread> sendFromThreads(int each, int most) {
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      int self = t;
      Thread thread =
          new Thread(
              () -> {
                Random random = new Random(self);
                for (int n = 0; n < each; n++) {
                  writes.send(message(self, n, random.nextInt(most), random.nextInt(3) == 0));
                }
              });
      thread.start();
      threads.add(thread);
    }
    return threads;
  }

  private void readAll(int each) throws IOException {
    DataInputStream in = new DataInputStream(peer.getInputStream());
    int[] next = new int[THREADS];
    for (int n = 0; n < THREADS * each; n++) {
      byte[] content = new byte[in.readInt()];
      int thread = in.readInt();
      int number = in.readInt();
      assertThat(number).isEqualTo(next[thread]++);
      in.readFully(content);
      for (int i = 0; i < content.length; i += 97) {
        assertThat(content[i]).isEqualTo((byte) (number + i));
      }
    }
  }

  @Test
  void writesSmallMessages() throws Exception {
    List<Thread> threads = sendFromThreads(20_000, 100);
    readAll(20_000);
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(broken).isNotDone();
  }

  /** The event loop writes the bytes that the socket does not accept. Then threads write again. */
  @Test
  void writesMoreThanSocketBuffer() throws Exception {
    List<Thread> threads = sendFromThreads(40, 1_000_000);
    for (Thread thread : threads) {
      // The threads end although nothing is read yet: no sender waits for the reader.
      thread.join();
    }
    readAll(40);
    threads = sendFromThreads(40, 1000);
    readAll(40);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void sendsHeldMessagesAfterRelease() throws Exception {
    assertThat(writes.hold()).isTrue();
    assertThat(writes.hold()).isFalse();
    for (int t = 0; t < THREADS; t++) {
      writes.send(message(t, 0, 10, false));
    }
    assertThat(peer.getInputStream().available()).isZero();

    writes.release();

    readAll(1);
    assertThat(writes.hold()).isTrue();
    writes.release();
  }

  @Test
  void reportsClosedSocket() throws Exception {
    channel.close().syncUninterruptibly();
    ByteBuf message = message(0, 0, 10, true);

    writes.send(message);

    assertThat(broken.get(10, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
    assertThat(message.refCnt()).isZero();
  }
}
