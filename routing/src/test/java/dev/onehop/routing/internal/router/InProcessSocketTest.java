package dev.onehop.routing.internal.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.SocketFactory;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An in-process socket behaves like a plain socket, also in methods that only a later driver may
 * call.
 */
class InProcessSocketTest {
  private static final int WIRE_6_0 = 17;
  private static final InetSocketAddress ANYWHERE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 27017);

  /**
   * A command that is forwarded without decoding. {@link #DECODED} is decoded, because it has a
   * collation.
   */
  private static final String FORWARDED = "{find: 'c', filter: {_id: 5}, $db: 'it'}";

  private static final String DECODED =
      "{find: 'c', filter: {_id: 5}, collation: {locale: 'simple'}, $db: 'it'}";

  private ScriptedCluster cluster;
  private OneHop router;
  private SocketFactory sockets;
  private Socket socket;
  private int requestId;

  @BeforeEach
  void start() throws IOException {
    cluster = new ScriptedCluster(WIRE_6_0);
    router =
        OneHop.builder("mongodb://" + cluster.address("config") + "/")
            .routing(RoutingMode.DIRECT)
            .build();
    sockets = router.syncClientSettings().getSslSettings().getContext().getSocketFactory();
    socket = connected();
    // The command loads the routing table.
    call(socket, FORWARDED);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.release();
    socket.close();
    router.close();
    cluster.close();
  }

  private Socket connected() throws IOException {
    Socket connected = sockets.createSocket();
    connected.connect(ANYWHERE, 10_000);
    return connected;
  }

  private byte[] message(String command, int flags) {
    ByteBuf out = Unpooled.buffer();
    OpMsg request = OpMsg.command(BsonDocument.parse(command)).withRequestId(++requestId);
    new OpMsg(request.requestId(), 0, flags, request.body(), request.sequences()).encode(out);
    return ByteBufUtil.getBytes(out);
  }

  private void write(Socket to, String command) throws IOException {
    to.getOutputStream().write(message(command, 0));
  }

  private BsonDocument read(Socket from) throws IOException {
    InputStream in = from.getInputStream();
    ByteBuf length = Unpooled.wrappedBuffer(in.readNBytes(4));
    ByteBuf whole = Unpooled.buffer().writeBytes(length.duplicate());
    whole.writeBytes(in.readNBytes(length.readIntLE() - 4));
    OpMsg reply = OpMsg.decode(whole);
    assertThat(reply.responseTo()).isEqualTo(requestId);
    return reply.body();
  }

  private BsonDocument call(Socket on, String command) throws IOException {
    write(on, command);
    return read(on);
  }

  private void hold() {
    cluster.hold("s1", command -> command.getFirstKey().equals("find"));
  }

  private static <T> FutureTask<T> start(Callable<T> what, Thread[] thread) {
    FutureTask<T> task = new FutureTask<>(what);
    thread[0] = new Thread(task, "reader");
    thread[0].start();
    await()
        .until(
            () ->
                thread[0].getState() == Thread.State.WAITING
                    || Arrays.stream(thread[0].getStackTrace())
                        .anyMatch(each -> each.getMethodName().equals("receive")));
    return task;
  }

  @Test
  void transfersSingleBytes() throws IOException {
    for (byte each : message(FORWARDED, 0)) {
      socket.getOutputStream().write(each);
    }
    ByteBuf whole = Unpooled.buffer();
    for (int i = 0; i < 4; i++) {
      whole.writeByte(socket.getInputStream().read());
    }
    for (int i = 4; i < whole.getIntLE(0); i++) {
      whole.writeByte(socket.getInputStream().read());
    }
    assertThat(OpMsg.decode(whole).body().getNumber("ok").intValue()).isEqualTo(1);
  }

  @Test
  void repliesInOrderToRequestsInOneWrite() throws IOException {
    ByteBuf all = Unpooled.buffer();
    for (String command : new String[] {FORWARDED, DECODED, FORWARDED}) {
      all.writeBytes(message(command, 0));
    }
    int last = requestId;
    socket.getOutputStream().write(ByteBufUtil.getBytes(all));
    for (requestId = last - 2; requestId <= last; requestId++) {
      assertThat(read(socket).getNumber("ok").intValue()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {FORWARDED, DECODED})
  void readCanResumeAfterTimeout(String command) throws IOException {
    hold();
    write(socket, command);
    socket.setSoTimeout(100);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> read(socket)).isInstanceOf(SocketTimeoutException.class);
    }
    cluster.release();
    socket.setSoTimeout(20_000);

    assertThat(read(socket).getNumber("ok").intValue()).isEqualTo(1);
    assertThat(cluster.seen("s1", "find")).hasSize(2);
  }

  @Test
  void readTimesOutWithoutRequest() throws IOException {
    socket.setSoTimeout(50);
    assertThatThrownBy(() -> read(socket)).isInstanceOf(SocketTimeoutException.class);
    assertThat(call(socket, FORWARDED)).containsKey("cursor");
  }

  @ParameterizedTest
  @ValueSource(strings = {FORWARDED, DECODED})
  void closeEndsRead(String command) throws Exception {
    hold();
    write(socket, command);
    FutureTask<BsonDocument> reading = start(() -> read(socket), new Thread[1]);

    socket.close();

    assertThat(catchThrowable(() -> reading.get(20, TimeUnit.SECONDS)).getCause())
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("losed");
    assertThatThrownBy(() -> write(socket, command)).isInstanceOf(SocketException.class);
    cluster.release();
    // No other request receives the reply to the abandoned request.
    try (Socket other = connected()) {
      assertThat(call(other, FORWARDED)).containsKey("cursor");
    }
  }

  /**
   * An interrupt does not end the read. A plain socket on a platform thread behaves in the same
   * way.
   */
  @ParameterizedTest
  @ValueSource(strings = {FORWARDED, DECODED})
  void readContinuesAfterInterrupt(String command) throws Exception {
    hold();
    write(socket, command);
    Thread[] thread = new Thread[1];
    FutureTask<Boolean> reading =
        start(
            () -> {
              var unused = read(socket);
              return Thread.currentThread().isInterrupted();
            },
            thread);

    thread[0].interrupt();
    assertThatThrownBy(() -> reading.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    cluster.release();

    assertThat(reading.get(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void halfClosedSocketReturnsPendingReply() throws IOException {
    write(socket, FORWARDED);
    socket.shutdownOutput();

    assertThat(read(socket)).containsKey("cursor");
    assertThatThrownBy(() -> socket.getOutputStream()).isInstanceOf(SocketException.class);
    socket.shutdownInput();
    assertThat(socket.isClosed()).isFalse();
  }

  @Test
  void replyFollowsUnacknowledgedRequests() throws IOException {
    OutputStream out = socket.getOutputStream();
    for (int i = 0; i < 3; i++) {
      out.write(
          message(
              "{insert: 'c', documents: [{_id: %d}], writeConcern: {w: 0}, $db: 'it'}".formatted(i),
              OpMsg.MORE_TO_COME));
    }
    assertThat(call(socket, FORWARDED)).containsKey("cursor");
    assertThat(cluster.seen("s1", "insert")).hasSize(3);
  }

  @Test
  void keepsUnreadReplies() throws IOException {
    OutputStream out = socket.getOutputStream();
    int first = requestId + 1;
    out.write(message(FORWARDED, 0));
    out.write(message(DECODED, 0));
    out.write(
        message(
            "{insert: 'c', documents: [{_id: 1}], writeConcern: {w: 0}, $db: 'it'}",
            OpMsg.MORE_TO_COME));
    for (requestId = first; requestId < first + 2; requestId++) {
      assertThat(read(socket)).containsKey("cursor");
    }
    await().until(() -> cluster.seen("s1", "insert").size() == 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 15, -1, Integer.MAX_VALUE})
  void rejectsInvalidLength(int length) {
    byte[] head = ByteBufUtil.getBytes(Unpooled.buffer().writeIntLE(length).writeZero(12));
    assertThatThrownBy(() -> socket.getOutputStream().write(head)).isInstanceOf(IOException.class);
  }

  @Test
  void rejectsOtherOpCodes() throws IOException {
    byte[] message = message(FORWARDED, 0);
    message[12] = 1;
    socket.getOutputStream().write(message);
    assertThatThrownBy(() -> read(socket)).isInstanceOf(IOException.class);
  }

  @Test
  void rejectsMessageWithUnknownSection() throws IOException {
    int before = cluster.seen("s1", "find").size();
    byte[] known = message(FORWARDED, 0);
    byte[] extended = Arrays.copyOf(known, known.length + 6);
    extended[known.length] = 2;
    extended[known.length + 1] = 5;
    ByteBuffer.wrap(extended).order(ByteOrder.LITTLE_ENDIAN).putInt(0, extended.length);
    socket.getOutputStream().write(extended);

    assertThat(read(socket))
        .containsEntry("code", new BsonInt32(17))
        .containsEntry("errmsg", new BsonString("unexpected OP_MSG section of kind 2"));
    assertThat(cluster.seen("s1", "find")).hasSize(before);
    assertThat(call(socket, FORWARDED)).containsEntry("ok", new BsonInt32(1));
  }

  @Test
  void rejectsUseOfUnconnectedSocket() throws IOException {
    Socket unconnected = sockets.createSocket();
    assertThat(unconnected.isConnected()).isFalse();
    assertThatThrownBy(unconnected::getInputStream).isInstanceOf(SocketException.class);
    unconnected.close();
    assertThatThrownBy(() -> unconnected.connect(ANYWHERE)).isInstanceOf(SocketException.class);
  }

  @Test
  void connectTimesOutWithoutCluster() throws IOException {
    cluster.stop("config");
    try (OneHop late =
            OneHop.builder("mongodb://" + cluster.address("config") + "/")
                .routing(RoutingMode.DIRECT)
                .build();
        Socket waiting =
            late.syncClientSettings()
                .getSslSettings()
                .getContext()
                .getSocketFactory()
                .createSocket()) {
      long start = System.nanoTime();
      assertThatThrownBy(() -> waiting.connect(ANYWHERE, 300))
          .isInstanceOf(SocketTimeoutException.class);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }
  }
}
