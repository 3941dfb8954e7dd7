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
 * Finds the host that a connection comes from. On the loopback interface every process may use
 * every address, so it is not the address that tells but the process that owns the other end: the
 * socket's inode from {@code /proc/net/tcp}, its owner from {@code /proc/<pid>/fd}. That works for
 * any binary.
 *
 * <p>One thread answers, all waiting questions at a time, so that a burst of connections costs one
 * reading of the tables. Thread-safe.
 */
public final class Callers implements AutoCloseable {
  private record Question(
      InetSocketAddress caller, InetSocketAddress link, CompletableFuture<String> answer) {}

  private record Ends(InetSocketAddress local, InetSocketAddress remote) {}

  private final Map<InetAddress, String> hostByAddress;
  private final String unknown;
  private final Map<Long, String> hostByPid = new ConcurrentHashMap<>();
  private final LinkedBlockingQueue<Question> questions = new LinkedBlockingQueue<>();
  private final Thread worker;

  /**
   * @param hostByAddress hosts by address: a connection opened from one of these comes from there
   * @param unknown the host of whoever else connects
   */
  public Callers(Map<InetAddress, String> hostByAddress, String unknown) {
    this.hostByAddress = Map.copyOf(hostByAddress);
    this.unknown = unknown;
    this.worker = new Thread(this::answerAll, "onehop-link-callers");
    worker.setDaemon(true);
    worker.start();
  }

  /** Says that a process runs on a host. */
  public void register(long pid, String host) {
    hostByPid.put(pid, host);
  }

  /**
   * The host that a connection comes from.
   *
   * @param caller the connecting end
   * @param link the accepting end
   * @return completed with the host's name, never exceptionally
   */
  CompletableFuture<String> hostOf(InetSocketAddress caller, InetSocketAddress link) {
    @Nullable String host = hostByAddress.get(caller.getAddress());
    if (host != null) {
      return CompletableFuture.completedFuture(host);
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
      owners = ProcFs.socketOwners(new java.util.HashSet<>(inodes.values()), hostByPid.keySet());
    } finally {
      for (Question question : batch) {
        long inode = inodes.getOrDefault(new Ends(question.caller(), question.link()), 0L);
        @Nullable Long pid = owners.get(inode);
        @Nullable String host = pid == null ? null : hostByPid.get(pid);
        question.answer().complete(host == null ? unknown : host);
      }
    }
  }

  @Override
  public void close() {
    worker.interrupt();
  }
}
