package dev.onehop.wire;

import java.io.Closeable;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A SOCKS5 proxy (RFC 1928, RFC 1929) that connects to ports of this machine, whichever host a
 * client requests. It records the requested hosts.
 */
public final class ScriptedProxy implements AutoCloseable {
  private static final int VERSION = 5;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Closeable> sockets = Collections.synchronizedList(new ArrayList<>());
  private final List<String> requested = Collections.synchronizedList(new ArrayList<>());
  private final @Nullable String login;
  private final boolean refuses;
  private final ServerSocket listener;

  /**
   * @param login the {@code user:password} that the proxy requires, null for none
   * @param refuses whether the proxy replies that it reaches no server
   */
  public ScriptedProxy(@Nullable String login, boolean refuses) {
    this.login = login;
    this.refuses = refuses;
    try {
      listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.execute(this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** The requested servers, as {@code host:port}. */
  public List<String> requested() {
    synchronized (requested) {
      return List.copyOf(requested);
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        sockets.add(client);
        threads.execute(() -> serve(client));
      } catch (IOException | RejectedExecutionException e) {
        return; // Closed.
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      DataInputStream in = new DataInputStream(client.getInputStream());
      OutputStream out = client.getOutputStream();
      in.readByte();
      in.skipNBytes(in.readUnsignedByte());
      out.write(new byte[] {VERSION, (byte) (login == null ? 0 : 2)});
      if (login != null && !isLoggedIn(in, out)) {
        return;
      }
      in.skipNBytes(3);
      String host =
          switch (in.readByte()) {
            case 1 -> InetAddress.getByAddress(in.readNBytes(4)).getHostAddress();
            case 3 -> text(in);
            default -> throw new IOException("an address of another kind");
          };
      int port = in.readUnsignedShort();
      requested.add(host + ":" + port);
      out.write(new byte[] {VERSION, (byte) (refuses ? 5 : 0), 0, 1, 0, 0, 0, 0, 0, 0});
      if (!refuses) {
        connect(client, port);
      }
    } catch (IOException e) {
      // The other side has closed the connection, so nothing is left to do.
    }
  }

  private boolean isLoggedIn(DataInputStream in, OutputStream out) throws IOException {
    in.readByte();
    boolean right = (text(in) + ":" + text(in)).equals(login);
    out.write(new byte[] {1, (byte) (right ? 0 : 1)});
    return right;
  }

  private static String text(DataInputStream in) throws IOException {
    return new String(in.readNBytes(in.readUnsignedByte()), StandardCharsets.UTF_8);
  }

  private void connect(Socket client, int port) throws IOException {
    try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
      sockets.add(server);
      threads.execute(() -> copy(server, client));
      copy(client, server);
    }
  }

  private static void copy(Socket from, Socket to) {
    try (from;
        to;
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      in.transferTo(out);
    } catch (IOException e) {
      // The other side has closed the connection, so nothing is left to do.
    }
  }

  @Override
  public void close() {
    List<Closeable> all;
    synchronized (sockets) {
      all = new ArrayList<>(sockets);
    }
    all.add(listener);
    for (Closeable each : all) {
      try {
        each.close();
      } catch (IOException e) {
        // It is closed already.
      }
    }
    threads.shutdownNow();
  }
}
