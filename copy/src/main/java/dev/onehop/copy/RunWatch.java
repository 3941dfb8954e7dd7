package dev.onehop.copy;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.OplogWindow;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/**
 * Reads the progress of the destination's index builds and the window of the source's oplogs while
 * a copy runs. If a server is unreachable or a right is missing, these values stay unknown.
 */
final class RunWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RunWatch.class);
  private static final long EVERY_MILLIS = 1_000;
  private static final int WINDOW_EVERY = 10;
  private static final int SCARCE = 4;
  private static final Duration SETTLED = Duration.ofSeconds(30);
  private static final List<BsonDocument> BUILDS =
      List.of(
          BsonDocument.parse("{$currentOp: {allUsers: true, idleConnections: false}}"),
          BsonDocument.parse(
              "{$match: {msg: /^Index Build/, 'command.createIndexes': {$exists: true},"
                  + " 'progress.total': {$gt: 0}}}"),
          BsonDocument.parse("{$project: {msg: 1, progress: 1}}"));

  private final ClusterEnd source;
  private final ClusterEnd destination;
  private final boolean following;
  private final ProgressMeter meter;
  private final Thread thread = new Thread(this::watch, "onehop-copy-watch");
  private @Nullable Duration warned;

  /**
   * Creates a watch, which begins to read with {@link #start}.
   *
   * @param following whether the copy needs the source's oplogs
   */
  RunWatch(ClusterEnd source, ClusterEnd destination, boolean following, ProgressMeter meter) {
    this.source = source;
    this.destination = destination;
    this.following = following;
    this.meter = meter;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void watch() {
    try {
      for (int look = 0; ; look++) {
        if (meter.phase() == CopyPhase.INDEXES || meter.phase() == CopyPhase.FINISH) {
          look(() -> meter.share(built()));
        }
        if (following && look % WINDOW_EVERY == 0) {
          look(
              () -> {
                OplogWindow window = OplogWindow.of(source);
                meter.window(window);
                warn(window);
              });
        }
        Thread.sleep(EVERY_MILLIS);
      }
    } catch (InterruptedException e) {
      // The copy has ended.
    }
  }

  private static void look(LeaseKeeping.Work at) throws InterruptedException {
    try {
      at.run();
    } catch (RuntimeException failure) {
      log.debug("the index builds or the oplogs can't be examined now", failure);
    }
  }

  /**
   * The part of the index builds that is done, from 0 to 1. A build first reads the documents and
   * then sorts the keys; each of the two steps counts as one half.
   */
  private double built() throws InterruptedException {
    double least = 1;
    boolean any = false;
    for (BsonDocument build :
        Waits.one(
            Flux.from(
                    destination.client().getDatabase("admin").aggregate(BUILDS, BsonDocument.class))
                .collectList())) {
      BsonDocument progress = build.getDocument("progress");
      double half =
          progress.getNumber("done", new BsonInt32(0)).doubleValue()
              / progress.getNumber("total").doubleValue()
              / 2;
      boolean reads = build.getString("msg").getValue().contains("scanning collection");
      least = Math.min(least, reads ? half : 0.5 + half);
      any = true;
    }
    return any ? least : 0;
  }

  /**
   * Warns when less than a quarter of the oplog window is left, and again whenever the rest has
   * halved. Also warns if the full phase is likely to take longer than the remaining time.
   */
  private void warn(@Nullable OplogWindow window) {
    CopyProgress now = meter.progress();
    Duration left = now.oplogLeft();
    if (window == null || left == null) {
      return;
    }
    // The estimate is used only after a while, because the rate of the first seconds is not
    // typical.
    boolean tooLong =
        now.phase() == CopyPhase.FULL
            && now.left() != null
            && now.left().compareTo(left) > 0
            && now.times().getOrDefault(CopyPhase.FULL, Duration.ZERO).compareTo(SETTLED) > 0;
    if (!tooLong && left.multipliedBy(SCARCE).compareTo(window.length()) > 0) {
      warned = null;
      return;
    }
    if (warned == null || left.multipliedBy(2).compareTo(warned) < 0) {
      warned = left;
      String text =
          ("in about %2$d s, at the current rate of writes, the oplog of %1$s will lose changes"
                  + " that are not applied yet: enlarge the oplog (replSetResizeOplog), otherwise"
                  + " the copy has to begin again")
              .formatted(window.place(), Math.max(0, left.toSeconds()));
      log.warn("{}", text);
      meter.note(text);
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
