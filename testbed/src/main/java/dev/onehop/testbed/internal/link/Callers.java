package dev.onehop.testbed.internal.link;

import dev.onehop.testbed.internal.process.ProcFs;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Identifies the process that opened a connection, and the host of this process. The address of a
 * connection does not identify the process, because on the loopback interface every process may use
 * every address. This class finds the socket's inode in {@code /proc/net/tcp}, and the process that
 * owns it in {@code /proc/<pid>/fd}.
 *
 * <p>One thread completes all waiting calls together. Many connections at the same time therefore
 * cause only one read of these files. Thread-safe.
 */
public final class Callers implements AutoCloseable {
  private record Question(
      InetSocketAddress caller, InetSocketAddress link, CompletableFuture<ConnectionEnd> answer) {}

  private record Ends(InetSocketAddress local, InetSocketAddress remote) {}

  private final Map<InetAddress, ConnectionEnd> byAddress;
  private final ConnectionEnd unknown;
  private final Map<Long, ConnectionEnd> byPid = new ConcurrentHashMap<>();
  private final LinkedBlockingQueue<Question> questions = new LinkedBlockingQueue<>();
  private final Thread worker;

  /**
   * @param byAddress the peers by address, for connections of processes that are not registered: a
   *     server may open its connections from its host's address
   * @param unknown the peer of connections from all other processes
   */
  public Callers(Map<InetAddress, ConnectionEnd> byAddress, ConnectionEnd unknown) {
    this.byAddress = Map.copyOf(byAddress);
    this.unknown = unknown;
    this.worker = new Thread(this::answerAll, "onehop-link-callers");
    worker.setDaemon(true);
    worker.start();
  }

  /** Registers a process with its kind and host. */
  public void register(long pid, ConnectionEnd peer) {
    byPid.put(pid, peer);
  }

  /**
   * Finds the peer that opened a connection.
   *
   * @param caller the connecting end
   * @param link the accepting end
   * @return the peer; never completed exceptionally
   */
  CompletableFuture<ConnectionEnd> callerOf(InetSocketAddress caller, InetSocketAddress link) {
    @Nullable ConnectionEnd known = byAddress.get(caller.getAddress());
    if (known != null && byPid.isEmpty()) {
      return CompletableFuture.completedFuture(known);
    }
    Question question = new Question(caller, link, new CompletableFuture<>());
    questions.add(question);
    return question.answer();
  }

  private void answerAll() {
    List<Question> batch = new ArrayList<>();
    while (!Thread.currentThread().isInterrupted()) {
      batch.clear();
      try {
        batch.add(questions.take());
      } catch (InterruptedException e) {
        return;
      }
      questions.drainTo(batch);
      answer(batch);
    }
  }

  private void answer(List<Question> batch) {
    Map<Ends, Long> inodes = new HashMap<>();
    for (Question question : batch) {
      inodes.put(new Ends(question.caller(), question.link()), 0L);
    }
    Map<Long, Long> owners = new HashMap<>();
    try {
      for (ProcFs.TcpSocket socket : ProcFs.tcpSockets()) {
        inodes.replace(new Ends(socket.local(), socket.remote()), socket.inode());
      }
      owners = ProcFs.socketOwners(new java.util.HashSet<>(inodes.values()), byPid.keySet());
    } finally {
      for (Question question : batch) {
        long inode = inodes.getOrDefault(new Ends(question.caller(), question.link()), 0L);
        @Nullable Long pid = owners.get(inode);
        @Nullable ConnectionEnd peer = pid == null ? null : byPid.get(pid);
        ConnectionEnd otherwise = byAddress.getOrDefault(question.caller().getAddress(), unknown);
        question.answer().complete(peer == null ? otherwise : peer);
      }
    }
  }

  @Override
  public void close() {
    worker.interrupt();
  }
}
