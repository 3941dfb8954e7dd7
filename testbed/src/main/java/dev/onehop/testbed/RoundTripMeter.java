package dev.onehop.testbed;

import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.RoundTrips;
import dev.onehop.testbed.topology.Topology;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLContext;
import org.bson.BsonBinaryWriter;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.EncoderContext;
import org.bson.io.BasicOutputBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Measures round trips with {@code ping} commands, one at a time on an idle connection. It writes
 * and reads the messages without a driver. The result is therefore little more than the network's
 * time.
 */
final class RoundTripMeter {
  private static final int LEAST_PINGS = 25;
  private static final int MOST_PINGS = 200;

  /**
   * The least number of pings for the warm-up of the links and of this code. Their times do not
   * count.
   */
  private static final int LEAST_WARM_UP = 5;

  private static final Duration LEAST_TIME = Duration.ofMillis(400);
  private static final long PAUSE_MILLIS = 2;
  private static final int OP_MSG = 2013;
  private static final int HEADER_BYTES = 16;

  private RoundTripMeter() {}

  static RoundTrips measure(Topology topology, ClusterPlan plan, @Nullable SSLContext tls) {
    Map<String, Duration> configured = new LinkedHashMap<>();
    Map<String, CompletableFuture<Duration>> pending = new LinkedHashMap<>();
    for (Host host : topology.hosts()) {
      // A mongod is preferred, because it replies to a ping faster than a router.
      plan.all().stream()
          .filter(server -> server.host().equals(host))
          .findFirst()
          .ifPresent(
              server -> {
                configured.put(host.name(), topology.roundTrip(topology.client(), host));
                pending.put(host.name(), start(server, tls));
              });
    }
    Map<String, Duration> measured = new LinkedHashMap<>();
    try {
      pending.forEach((host, median) -> measured.put(host, median.join()));
    } catch (CompletionException e) {
      throw new TestbedException("cannot measure round trips: " + e.getMessage(), e);
    }
    return new RoundTrips(configured, measured);
  }

  private static CompletableFuture<Duration> start(Server server, @Nullable SSLContext tls) {
    CompletableFuture<Duration> median = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                median.complete(median(server, tls));
              } catch (IOException | RuntimeException e) {
                median.completeExceptionally(
                    new TestbedException(server.advertised() + " does not reply: " + e, e));
              }
            },
            "onehop-ping-" + server.host());
    thread.setDaemon(true);
    thread.start();
    return median;
  }

  private static Duration median(Server server, @Nullable SSLContext tls) throws IOException {
    // The command ping needs no login.
    try (Socket socket = tls == null ? new Socket() : tls.getSocketFactory().createSocket()) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(30_000);
      socket.connect(server.advertisedAddress());
      series(socket, LEAST_WARM_UP);
      long[] nanos = series(socket, LEAST_PINGS);
      Arrays.sort(nanos);
      return Duration.ofNanos(nanos[nanos.length / 2]);
    }
  }

  /** Sends pings for a fixed time, and at least {@code least} pings. Returns their times. */
  private static long[] series(Socket socket, int least) throws IOException {
    byte[] ping = ping();
    DataInputStream in = new DataInputStream(socket.getInputStream());
    long[] nanos = new long[MOST_PINGS];
    int count = 0;
    long until = System.nanoTime() + LEAST_TIME.toNanos();
    while (count < least || (count < MOST_PINGS && System.nanoTime() - until < 0)) {
      pause();
      long sent = System.nanoTime();
      socket.getOutputStream().write(ping);
      int length = Integer.reverseBytes(in.readInt());
      in.skipNBytes(length - Integer.BYTES);
      nanos[count++] = System.nanoTime() - sent;
    }
    return Arrays.copyOf(nanos, count);
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /** Returns the command ping as an OP_MSG: header, flags, and one body section (kind 0). */
  private static byte[] ping() {
    try (BasicOutputBuffer body = new BasicOutputBuffer();
        BsonBinaryWriter writer = new BsonBinaryWriter(body)) {
      BsonDocument command =
          new BsonDocument("ping", new BsonInt32(1)).append("$db", new BsonString("admin"));
      new BsonDocumentCodec().encode(writer, command, EncoderContext.builder().build());
      byte[] document = body.toByteArray();
      int length = HEADER_BYTES + Integer.BYTES + 1 + document.length;
      return ByteBuffer.allocate(length)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putInt(length)
          .putInt(1)
          .putInt(0)
          .putInt(OP_MSG)
          .putInt(0)
          .put((byte) 0)
          .put(document)
          .array();
    }
  }
}
