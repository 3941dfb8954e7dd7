package dev.onehop.it;

import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.ResourceLeakDetector;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Netty's leak detection at its highest level, which watches every buffer. */
final class LeakWatch implements AutoCloseable {
  private final List<String> leaks = new CopyOnWriteArrayList<>();
  private final ResourceLeakDetector.Level before = ResourceLeakDetector.getLevel();

  private LeakWatch() {}

  /** Starts watching the buffers that are allocated from now on. */
  static LeakWatch start() {
    LeakWatch watch = new LeakWatch();
    ResourceLeakDetector.setLevel(
        ResourceLeakDetector.Level.valueOf(System.getProperty("onehop.leakDetection", "PARANOID")));
    ByteBufUtil.setLeakListener(
        (type, records) -> {
          if (!isOfDriversSocket(records)) {
            watch.leaks.add(type + " " + records);
          }
        });
    return watch;
  }

  /**
   * Whether only the driver lost the buffer. If a socket is closed while the driver reads from it,
   * the driver does not release the buffer.
   */
  private static boolean isOfDriversSocket(String records) {
    return records.contains("com.mongodb.internal.connection.netty.NettyStream.readAsync")
        && records.contains("io.netty.channel.nio.")
        && !records.contains("dev.onehop");
  }

  /** The buffers that were lost so far. */
  List<String> leaks() {
    // Netty reports a lost buffer when the buffer is garbage and another buffer is allocated.
    for (int n = 0; n < 5; n++) {
      collectGarbage();
      for (int i = 0; i < 200; i++) {
        ByteBuf probe = ByteBufAllocator.DEFAULT.directBuffer(16);
        probe.release();
      }
    }
    return List.copyOf(leaks);
  }

  /** Returns after a garbage collection that has found an unused object of this method. */
  private static void collectGarbage() {
    ReferenceQueue<Object> lost = new ReferenceQueue<>();
    Object unused = new WeakReference<>(new Object(), lost);
    try {
      await()
          .until(
              () -> {
                System.gc();
                return lost.poll() != null;
              });
    } finally {
      Reference.reachabilityFence(unused);
    }
  }

  @Override
  public void close() {
    ResourceLeakDetector.setLevel(before);
    ByteBufUtil.setLeakListener(null);
  }
}
