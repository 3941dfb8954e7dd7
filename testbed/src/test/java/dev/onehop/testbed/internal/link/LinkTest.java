package dev.onehop.testbed.internal.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.internal.Loopback;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Links to an echo server. The tests have no tight upper bounds of times, because the machine may
 * be busy.
 */
@ParameterizedClass
@ValueSource(strings = {"best", "NIO"})
class LinkTest {
  private static final Duration NEAR = Duration.ofMillis(20);
  private static final Duration FAR = Duration.ofMillis(120);

  /** The time by which a link may deliver too early; see {@link Lateness}. */
  private static final Duration EARLY = Duration.ofMillis(1);

  private static final InetAddress NEAR_HOST = Loopback.ip(42, 1, 1);
  private static final InetAddress FAR_HOST = Loopback.ip(42, 2, 1);
  private static final InetAddress SERVER_HOST = Loopback.ip(42, 3, 1);

  private static final ConnectionEnd SERVER = new ConnectionEnd("server", Traffic.Party.SHARD);

  @Parameter String transport;

  private final List<AutoCloseable> resources = new ArrayList<>();
  private final CompletableFuture<Boolean> serverSawEnd = new CompletableFuture<>();
  private final List<InetAddress> seenCallers = new CopyOnWriteArrayList<>();
  private Links links;
  private Link link;
  private ServerSocket server;

  @BeforeEach
  void open() throws IOException {
    server = new ServerSocket(0, 100, SERVER_HOST);
    resources.add(server);
    Thread acceptor = new Thread(this::accept, "echo-acceptor");
    acceptor.setDaemon(true);
    acceptor.start();
    Map<String, InetAddress> hosts =
        Map.of("near", NEAR_HOST, "far", FAR_HOST, "server", SERVER_HOST);
    Callers callers =
        new Callers(
            Map.of(NEAR_HOST, ConnectionEnd.client("near"), FAR_HOST, ConnectionEnd.client("far")),
            ConnectionEnd.client("near"));
    links =
        new Links(
            hosts,
            (from, to) -> from.equals("far") ? FAR : NEAR,
            callers,
            transport.equals("NIO") ? Transport.nio() : Transport.best());
    resources.add(links);
    link =
        links.open(
            SERVER,
            new InetSocketAddress(SERVER_HOST, freePort()),
            (InetSocketAddress) server.getLocalSocketAddress());
  }

  @AfterEach
  void close() throws Exception {
    for (int i = resources.size() - 1; i >= 0; i--) {
      resources.get(i).close();
    }
  }

  @Test
  void replyTakesRoundTripOfCallersHost() throws IOException {
    assertThat(echoTime(connect(NEAR_HOST))).isGreaterThanOrEqualTo(NEAR.minus(EARLY));
    assertThat(echoTime(connect(FAR_HOST))).isGreaterThanOrEqualTo(FAR.minus(EARLY));
  }

  @Test
  void serverSeesCallersHost() throws IOException {
    echoTime(connect(NEAR_HOST));
    echoTime(connect(FAR_HOST));
    assertThat(seenCallers).containsExactly(NEAR_HOST, FAR_HOST);
  }

  @Test
  void unknownAddressCountsAsDefaultHost() throws IOException {
    echoTime(connect(Loopback.ip(0, 0, 1)));
    assertThat(seenCallers).containsExactly(NEAR_HOST);
  }

  @Test
  void findsCallersHostByProcess() throws Exception {
    Process process =
        new ProcessBuilder(
                "bash",
                "-c",
                "read; exec 3<>/dev/tcp/%s/%d; echo hello >&3; read line <&3; echo $line"
                    .formatted(SERVER_HOST.getHostAddress(), link.advertised().getPort()))
            .start();
    resources.add(process::destroyForcibly);
    links.callers().register(process.pid(), ConnectionEnd.client("far"));
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo("hello\n");
    assertThat(seenCallers).containsExactly(FAR_HOST);
  }

  /**
   * This process connects from the near host, but it is registered as the router of the far host.
   */
  @Test
  void registeredProcessIsPreferredToAddress() throws IOException {
    links
        .callers()
        .register(ProcessHandle.current().pid(), new ConnectionEnd("far", Traffic.Party.ROUTER));
    assertThat(echoTime(connect(NEAR_HOST))).isPositive();
    assertThat(links.traffic(host -> host).bytes())
        .containsEntry(
            new Traffic.Flow("far", Traffic.Party.ROUTER, "server", Traffic.Party.SHARD), 1L);
  }

  @Test
  void manyMessagesAreInFlight() throws IOException {
    Socket socket = connect(FAR_HOST);
    echoTime(socket);
    long began = System.nanoTime();
    DataInputStream in = new DataInputStream(socket.getInputStream());
    int messages = 200;
    for (int i = 0; i < messages; i++) {
      socket.getOutputStream().write(ByteBuffer.allocate(4).putInt(i).array());
    }
    for (int i = 0; i < messages; i++) {
      assertThat(in.readInt()).isEqualTo(i);
    }
    Duration took = Duration.ofNanos(System.nanoTime() - began);
    assertThat(took).isGreaterThanOrEqualTo(FAR.minus(EARLY));
    // One after the other, the messages would take 24 s.
    assertThat(took).isLessThan(FAR.multipliedBy(messages / 2));
  }

  @Test
  void bulkDataArrivesCompleteAndInOrder() throws Exception {
    Socket socket = connect(NEAR_HOST);
    byte[] sent = new byte[40 << 20];
    new Random(7).nextBytes(sent);
    CompletableFuture<Void> writing = writeAsync(socket, sent, 1);
    byte[] received = socket.getInputStream().readNBytes(sent.length);
    writing.get(10, TimeUnit.SECONDS);
    assertThat(Arrays.equals(received, sent)).isTrue();
  }

  @Test
  void slowReaderBlocksWriter() throws Exception {
    Socket socket = connect(NEAR_HOST);
    // These 400 MiB are more than the link's limit in both directions plus all socket buffers.
    // Linux lets each of the four receive buffers grow to 32 MiB.
    byte[] megabyte = new byte[1 << 20];
    int times = 400;
    CompletableFuture<Void> writing = writeAsync(socket, megabyte, times);
    assertThatThrownBy(() -> writing.get(1500, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    for (int i = 0; i < times; i++) {
      assertThat(socket.getInputStream().readNBytes(megabyte.length)).hasSize(megabyte.length);
    }
    writing.get(10, TimeUnit.SECONDS);
  }

  private static CompletableFuture<Void> writeAsync(Socket socket, byte[] bytes, int times) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            for (int i = 0; i < times; i++) {
              socket.getOutputStream().write(bytes);
            }
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Test
  void repliesArriveAfterHalfClose() throws Exception {
    Socket socket = connect(NEAR_HOST);
    socket.getOutputStream().write(new byte[] {1, 2, 3});
    socket.shutdownOutput();
    assertThat(socket.getInputStream().readAllBytes()).containsExactly(1, 2, 3);
    assertThat(serverSawEnd.get(10, TimeUnit.SECONDS)).isTrue();
    Awaitility.await().until(() -> link.connectionCount() == 0);
  }

  @Test
  void forwardsReset() throws Exception {
    Socket socket = connect(NEAR_HOST);
    echoTime(socket);
    socket.setSoLinger(true, 0);
    socket.close();
    assertThat(serverSawEnd.get(10, TimeUnit.SECONDS)).isFalse();
    Awaitility.await().until(() -> link.connectionCount() == 0);
  }

  @Test
  void cutBreaksConnectionsAndAcceptsNewOnes() throws Exception {
    Socket socket = connect(NEAR_HOST);
    echoTime(socket);
    link.cut();
    assertThatThrownBy(() -> echoTime(socket)).isInstanceOf(IOException.class);
    assertThat(serverSawEnd.get(10, TimeUnit.SECONDS)).isFalse();
    assertThat(echoTime(connect(NEAR_HOST))).isPositive();
  }

  @Test
  void refusesNewConnectionsWhileBlocked() throws Exception {
    link.setBlocked(true);
    assertThatThrownBy(() -> echoTime(connect(NEAR_HOST))).isInstanceOf(IOException.class);
    link.setBlocked(false);
    assertThat(echoTime(connect(NEAR_HOST))).isPositive();
  }

  @Test
  void unreachableServerResetsCaller() throws Exception {
    Link deadEnd =
        links.open(
            SERVER,
            new InetSocketAddress(SERVER_HOST, freePort()),
            new InetSocketAddress(SERVER_HOST, freePort()));
    assertThatThrownBy(() -> echoTime(connect(NEAR_HOST, deadEnd))).isInstanceOf(IOException.class);
  }

  @Test
  void countsBytesByOriginInBothDirections() throws IOException {
    Traffic before = links.traffic(host -> host);
    Socket far = connect(FAR_HOST);
    far.getOutputStream().write(new byte[1000]);
    assertThat(far.getInputStream().readNBytes(1000)).hasSize(1000);
    assertThat(echoTime(connect(NEAR_HOST))).isPositive();
    Traffic counted = links.traffic(host -> host);
    Traffic.Party client = Traffic.Party.CLIENT;
    Traffic.Party shard = Traffic.Party.SHARD;
    assertThat(counted.since(before).bytes())
        .containsOnly(
            Map.entry(new Traffic.Flow("far", client, "server", shard), 1000L),
            Map.entry(new Traffic.Flow("server", shard, "far", client), 1000L),
            Map.entry(new Traffic.Flow("near", client, "server", shard), 1L),
            Map.entry(new Traffic.Flow("server", shard, "near", client), 1L));
    assertThat(counted.since(counted).bytes()).isEmpty();
  }

  @Test
  void keepsOrderWhenDelaysChange() throws IOException {
    Socket socket = connect(FAR_HOST);
    echoTime(socket);
    DataInputStream in = new DataInputStream(socket.getInputStream());
    for (int i = 0; i < 100; i++) {
      links.setDelayed(i % 2 == 0);
      socket.getOutputStream().write(i);
    }
    for (int i = 0; i < 100; i++) {
      assertThat(in.readByte()).isEqualTo((byte) i);
    }
  }

  @Test
  void reportsAddressInUse() {
    assertThatThrownBy(() -> links.open(SERVER, link.advertised(), link.advertised()))
        .isInstanceOf(TestbedException.class)
        .hasMessageContaining("cannot listen on")
        .hasMessageContaining(String.valueOf(link.advertised().getPort()));
  }

  private Socket connect(InetAddress from) throws IOException {
    return connect(from, link);
  }

  private Socket connect(InetAddress from, Link through) throws IOException {
    Socket socket = new Socket();
    resources.add(socket);
    socket.setSoTimeout(20_000);
    socket.setTcpNoDelay(true);
    socket.bind(new InetSocketAddress(from, 0));
    socket.connect(through.advertised());
    return socket;
  }

  private static Duration echoTime(Socket socket) throws IOException {
    long began = System.nanoTime();
    socket.getOutputStream().write(42);
    int answer = socket.getInputStream().read();
    if (answer < 0) {
      throw new SocketException("closed");
    }
    assertThat(answer).isEqualTo(42);
    return Duration.ofNanos(System.nanoTime() - began);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        socket.setTcpNoDelay(true);
        seenCallers.add(socket.getInetAddress());
        Thread echo = new Thread(() -> echo(socket), "echo");
        echo.setDaemon(true);
        echo.start();
      } catch (IOException e) {
        return;
      }
    }
  }

  private void echo(Socket socket) {
    try (socket;
        InputStream in = socket.getInputStream()) {
      in.transferTo(socket.getOutputStream());
      serverSawEnd.complete(true);
    } catch (IOException e) {
      serverSawEnd.complete(false);
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket probe = new ServerSocket(0, 1, SERVER_HOST)) {
      return probe.getLocalPort();
    }
  }
}
