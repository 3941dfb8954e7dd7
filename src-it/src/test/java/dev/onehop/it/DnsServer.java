package dev.onehop.it;

import dev.onehop.wire.ServerAddressName;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A name server on UDP with SRV records only, which may change at any time. The driver looks up SRV
 * records with the JDK's name service provider. While this object is open, that provider uses no
 * other name server.
 */
final class DnsServer implements AutoCloseable {
  private static final String PROVIDER_URL = "java.naming.provider.url";
  private static final int MOST_BYTES = 512;
  private static final int HEADER_BYTES = 12;
  private static final int SRV = 33;
  private static final int IN = 1;
  private static final int ANSWER_FOUND = 0x8180;
  private static final int ANSWER_NO_SUCH_NAME = 0x8183;
  private static final int POINTER_TO_QUESTION = 0xC00C;

  private final DatagramSocket socket;
  private final Map<String, List<ServerAddressName>> services = new ConcurrentHashMap<>();

  DnsServer() throws IOException {
    socket = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    new Thread(this::serve, "dns").start();
    System.setProperty(
        PROVIDER_URL,
        "dns://%s:%d".formatted(socket.getLocalAddress().getHostAddress(), socket.getLocalPort()));
  }

  /** Replaces the servers of a {@code mongodb+srv} URI with this host. */
  void setServers(String host, ServerAddressName... servers) {
    services.put("_mongodb._tcp." + host, List.of(servers));
  }

  private void serve() {
    byte[] bytes = new byte[MOST_BYTES];
    while (!socket.isClosed()) {
      try {
        DatagramPacket question = new DatagramPacket(bytes, bytes.length);
        socket.receive(question);
        byte[] answer = answer(ByteBuffer.wrap(bytes, 0, question.getLength()));
        socket.send(new DatagramPacket(answer, answer.length, question.getSocketAddress()));
      } catch (IOException e) {
        if (!socket.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private byte[] answer(ByteBuffer question) throws IOException {
    short id = question.getShort();
    question.position(HEADER_BYTES);
    StringBuilder name = new StringBuilder();
    for (int length = question.get(); length > 0; length = question.get()) {
      byte[] label = new byte[length];
      question.get(label);
      name.append(name.isEmpty() ? "" : ".").append(new String(label, StandardCharsets.US_ASCII));
    }
    boolean isSrv = question.getShort() == SRV;
    byte[] questionBytes = new byte[question.position() + Short.BYTES - HEADER_BYTES];
    question.get(HEADER_BYTES, questionBytes);
    List<ServerAddressName> found = services.get(name.toString().toLowerCase(Locale.ROOT));
    List<ServerAddressName> servers = found == null || !isSrv ? List.of() : found;

    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream answer = new DataOutputStream(bytes);
    answer.writeShort(id);
    answer.writeShort(found == null && isSrv ? ANSWER_NO_SUCH_NAME : ANSWER_FOUND);
    answer.writeShort(1); // question
    answer.writeShort(servers.size());
    answer.writeInt(0); // the numbers of authority records and of additional records
    answer.write(questionBytes);
    for (ServerAddressName server : servers) {
      byte[] target = encoded(server.host());
      answer.writeShort(POINTER_TO_QUESTION);
      answer.writeShort(SRV);
      answer.writeShort(IN);
      answer.writeInt(0); // seconds to live
      answer.writeShort(3 * Short.BYTES + target.length);
      answer.writeInt(0); // priority and weight
      answer.writeShort(server.port());
      answer.write(target);
    }
    return bytes.toByteArray();
  }

  private static byte[] encoded(String name) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (String label : name.split("\\.", -1)) {
      bytes.write(label.length());
      bytes.writeBytes(label.getBytes(StandardCharsets.US_ASCII));
    }
    bytes.write(0);
    return bytes.toByteArray();
  }

  @Override
  public void close() {
    System.clearProperty(PROVIDER_URL);
    socket.close();
  }
}
