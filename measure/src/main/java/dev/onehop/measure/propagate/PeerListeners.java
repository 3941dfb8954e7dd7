package dev.onehop.measure.propagate;

import dev.onehop.measure.results.PropagateResults.Clocks;
import dev.onehop.resync.Failure;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/**
 * The streams of a process on another machine. Times that it sends are turned into those of this
 * machine's clock by the offset of the two, which is bounded all the while.
 */
final class PeerListeners implements Listeners {

  private static final int CONNECT_MILLIS = 10_000;
  private static final int ANSWER_MILLIS = 60_000;
  private static final int FIRST_ROUND_TRIPS = 200;
  private static final long PAUSE_MILLIS = 10;

  private final PeerAddress peer;
  private final Sink sink;
  private final ClockOffset clocks = new ClockOffset();
  private final Socket clock;
  private final Socket events;
  private final Thread clockThread = new Thread(this::askTime, "peer-clock");
  private final Thread eventThread = new Thread(this::takeEvents, "peer-events");
  private final DataInputStream time;
  private final DataOutputStream question;
  private final DataInputStream items;
  private final long offset;
  private volatile boolean closed;
  private volatile @Nullable Failure failure;

  private PeerListeners(
      PeerAddress peer, Socket clock, Socket events, PeerProtocol.Wanted wanted, Sink sink)
      throws IOException {
    this.peer = peer;
    this.clock = clock;
    this.events = events;
    this.sink = sink;
    question = new DataOutputStream(new BufferedOutputStream(clock.getOutputStream()));
    time = new DataInputStream(clock.getInputStream());
    question.writeUTF(PeerProtocol.CLOCK);
    for (int i = 0; i < FIRST_ROUND_TRIPS; i++) {
      roundTrip();
    }
    offset = clocks.fix();
    DataOutputStream asks =
        new DataOutputStream(new BufferedOutputStream(events.getOutputStream()));
    items = new DataInputStream(new BufferedInputStream(events.getInputStream()));
    asks.writeUTF(PeerProtocol.EVENTS);
    wanted.write(asks);
    asks.flush();
    int answer = items.readUnsignedByte();
    if (answer != PeerProtocol.OPENED) {
      throw refused(answer);
    }
    events.setSoTimeout(0);
    clockThread.setDaemon(true);
    eventThread.setDaemon(true);
  }

  /**
   * Connects, and has the streams opened.
   *
   * @throws Failure if there is no listener, or it can't open them
   */
  static PeerListeners open(PeerAddress peer, PeerProtocol.Wanted wanted, Sink sink) {
    Socket clock = new Socket();
    Socket events = new Socket();
    boolean opened = false;
    try {
      for (Socket socket : new Socket[] {clock, events}) {
        socket.connect(
            new InetSocketAddress(
                peer.host().isEmpty()
                    ? InetAddress.getLoopbackAddress()
                    : InetAddress.getByName(peer.host()),
                peer.port()),
            CONNECT_MILLIS);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(ANSWER_MILLIS);
      }
      PeerListeners listeners = new PeerListeners(peer, clock, events, wanted, sink);
      listeners.clockThread.start();
      listeners.eventThread.start();
      opened = true;
      return listeners;
    } catch (IOException e) {
      throw Failure.run(
          "--peer "
              + peer
              + " does not answer as onehop propagate --listen does: "
              + Failure.reason(e),
          e);
    } finally {
      if (!opened) {
        close(clock);
        close(events);
      }
    }
  }

  private Failure refused(int answer) throws IOException {
    return Failure.run(
        "--peer "
            + peer
            + ": "
            + (answer == PeerProtocol.FAILED ? items.readUTF() : "unknown answer " + answer),
        null);
  }

  private void roundTrip() throws IOException {
    long sent = SteadyClock.micros();
    question.writeLong(sent);
    question.flush();
    long remote = time.readLong();
    clocks.add(sent, remote, SteadyClock.micros());
  }

  private void askTime() {
    try {
      while (!closed) {
        Thread.sleep(PAUSE_MILLIS);
        roundTrip();
      }
    } catch (IOException e) {
      broken(e);
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private void takeEvents() {
    try {
      while (!closed) {
        int kind = items.readUnsignedByte();
        if (kind != PeerProtocol.ITEM) {
          failure = refused(kind);
          return;
        }
        PeerProtocol.Seen seen = PeerProtocol.Seen.read(items);
        sink.take(seen.path(), seen.item(), seen.micros() - offset);
      }
    } catch (IOException e) {
      broken(e);
    }
  }

  private void broken(IOException e) {
    if (!closed) {
      failure = Failure.run("--peer " + peer + " broke off: " + Failure.reason(e), e);
    }
  }

  @Override
  public void check() {
    Failure why = failure;
    if (why != null) {
      throw why;
    }
  }

  @Override
  public Clocks clocks() {
    return clocks.clocks(peer.toString());
  }

  @Override
  public void close() {
    closed = true;
    clockThread.interrupt();
    close(clock);
    close(events);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is no longer used.
    }
  }
}
