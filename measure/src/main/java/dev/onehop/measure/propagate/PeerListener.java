package dev.onehop.measure.propagate;

import dev.onehop.measure.consume.Connections;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Listens on this machine to what another one writes: {@code onehop propagate --listen}. */
public final class PeerListener implements AutoCloseable {

  private static final int GREETING_MILLIS = 10_000;
  private static final int MOST_WAITING = 8;

  private final ClusterUrl url;
  private final ServerSocket server;
  private final Consumer<String> log;

  /**
   * Binds the address.
   *
   * @param url how this machine reaches the cluster
   * @param log gets a line for each writer that connects or disconnects
   * @throws Failure if the address can't be had
   */
  public PeerListener(PeerAddress address, ClusterUrl url, Consumer<String> log) {
    this.url = url;
    this.log = log;
    try {
      server = new ServerSocket();
      server.setReuseAddress(true);
      server.bind(
          address.host().isEmpty()
              ? new InetSocketAddress(address.port())
              : new InetSocketAddress(InetAddress.getByName(address.host()), address.port()),
          MOST_WAITING);
    } catch (IOException e) {
      throw Failure.run("cannot listen on " + address + ": " + Failure.reason(e), e);
    }
  }

  /** Serves writers until it is closed. */
  public void serve() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        Thread thread = new Thread(() -> serve(socket), "peer");
        thread.setDaemon(true);
        thread.start();
      } catch (IOException e) {
        if (!server.isClosed()) {
          throw Failure.run("cannot accept connections: " + Failure.reason(e), e);
        }
      }
    }
  }

  private void serve(Socket socket) {
    String from = socket.getInetAddress().getHostAddress();
    try (socket) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(GREETING_MILLIS);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
      String greeting = in.readUTF();
      switch (greeting) {
        case PeerProtocol.CLOCK -> {
          socket.setSoTimeout(0);
          tellTime(in, out);
        }
        case PeerProtocol.EVENTS -> {
          PeerProtocol.Wanted wanted = PeerProtocol.Wanted.read(in);
          socket.setSoTimeout(0);
          log.accept("listening for " + from + ": " + wanted.database());
          sendEvents(wanted, in, out);
          log.accept(from + " has ended");
        }
        default -> log.accept("closed a connection from " + from + " that is none of a --peer");
      }
    } catch (EOFException e) {
      // The writer has ended.
    } catch (IOException e) {
      log.accept("the connection from " + from + " broke off: " + Failure.reason(e));
    }
  }

  private static void tellTime(DataInputStream in, DataOutputStream out) throws IOException {
    while (true) {
      long unused = in.readLong();
      out.writeLong(SteadyClock.micros());
      out.flush();
    }
  }

  private void sendEvents(PeerProtocol.Wanted wanted, DataInputStream in, DataOutputStream out)
      throws IOException {
    // What is seen is not held up by the network.
    BlockingQueue<PeerProtocol.Seen> queue = new LinkedBlockingQueue<>();
    StreamRequest request =
        new StreamRequest(
            Connections.settings(url.secret(), url.authority()),
            wanted.database(),
            wanted.collection(),
            wanted.start(),
            List.of(),
            Duration.ofMillis(wanted.awaitMillis()),
            wanted.total());
    try (Listeners listeners =
        Listeners.here(
            request,
            (path, item, micros) -> {
              if (item.run() == wanted.run()) {
                queue.add(new PeerProtocol.Seen(path, item, micros));
              }
            })) {
      out.writeByte(PeerProtocol.OPENED);
      out.flush();
      send(queue, listeners, in, out);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      out.writeByte(PeerProtocol.FAILED);
      out.writeUTF(Failure.firstLine(e));
      out.flush();
    }
  }

  /** Until the writer closes the connection, on which it says nothing more. */
  private static void send(
      BlockingQueue<PeerProtocol.Seen> queue,
      Listeners listeners,
      DataInputStream in,
      DataOutputStream out)
      throws IOException, InterruptedException {
    Thread sender = Thread.currentThread();
    Thread watch =
        new Thread(
            () -> {
              try {
                int unused = in.read();
              } catch (IOException e) {
                // The end as well.
              }
              sender.interrupt();
            },
            "peer-watch");
    watch.setDaemon(true);
    watch.start();
    while (true) {
      PeerProtocol.Seen seen = queue.poll(50, TimeUnit.MILLISECONDS);
      if (seen == null) {
        listeners.check();
        continue;
      }
      while (seen != null) {
        out.writeByte(PeerProtocol.ITEM);
        seen.write(out);
        seen = queue.poll();
      }
      out.flush();
    }
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      // It is no longer used.
    }
  }
}
