package dev.onehop.flink.internal;

import dev.onehop.streams.ShardParts;
import dev.onehop.streams.event.Checkpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Finds the shards and assigns their splits. It also sends positions to the readers, whose
 * watermarks then rise to these positions. Before it sends a position, it assigns the splits of all
 * shards with events up to this position. Otherwise watermarks would pass unread events of a new
 * shard.
 *
 * <p>Only Flink's coordinator thread uses an instance, except for {@link #look}, which runs on
 * another thread.
 */
public final class ShardEnumerator implements SplitEnumerator<ShardSplit, AssignedSplits> {
  private static final Logger log = LoggerFactory.getLogger(ShardEnumerator.class);

  /** The interval at which the list of shards is read. Watermarks may be late by this time. */
  private static final long PERIOD_MILLIS = 100;

  private static final Duration READING = Duration.ofSeconds(30);

  private final SplitEnumeratorContext<ShardSplit> context;
  private final ShardParts cluster;
  private final int splitsPerShard;
  private final Set<String> shards = new HashSet<>();
  private final Map<String, String> leaving = new HashMap<>();
  private final List<ShardSplit> pending = new ArrayList<>();
  private final Set<String> running = new HashSet<>();
  private @Nullable String through;
  private boolean begun;
  private int next;
  private int failures;

  // The thread that runs look() uses these fields, too.
  private volatile boolean open;
  private volatile boolean complete;

  /**
   * A list of shards that was read. Only the first list has a start, the position at which the
   * stream starts.
   */
  private record Look(@Nullable Checkpoint start, ShardParts.Shards shards) {}

  /**
   * @param cluster the stream's parts; closed with this enumerator
   * @param state the state of a checkpoint; null for a new job
   */
  public ShardEnumerator(
      SplitEnumeratorContext<ShardSplit> context,
      ShardParts cluster,
      int splitsPerShard,
      @Nullable AssignedSplits state) {
    this.context = context;
    this.cluster = cluster;
    this.splitsPerShard = splitsPerShard;
    if (state != null) {
      begun = true;
      shards.addAll(state.shards());
      leaving.putAll(state.leaving());
      pending.addAll(state.pending());
      running.addAll(state.running());
      through = state.through();
      complete = through == null;
    }
  }

  @Override
  public void start() {
    context.callAsync(this::look, this::looked, 0, PERIOD_MILLIS);
  }

  private @Nullable Look look() {
    if (complete) {
      return null;
    }
    if (!open) {
      ShardParts.Opening opening = Mono.from(cluster.open()).block(READING);
      open = true;
      return opening == null ? null : new Look(opening.start(), opening.shards());
    }
    ShardParts.Shards now = Mono.from(cluster.shards()).block(READING);
    return now == null ? null : new Look(null, now);
  }

  private void looked(@Nullable Look look, @Nullable Throwable failure) {
    if (failure != null) {
      if (!begun) {
        throw new FlinkRuntimeException("the list of shards can't be read", failure);
      }
      failures++;
      if (failures == 3) {
        log.warn("watermarks wait for the config servers, which don't answer", failure);
      }
      return;
    }
    failures = 0;
    if (look != null && !complete) {
      compare(look);
    }
    assign();
  }

  private void compare(Look look) {
    ShardParts.Shards now = look.shards();
    for (String shard : now.ids()) {
      if (shards.add(shard)) {
        add(shard, place(shard, look.start()));
      }
    }
    String after = now.through();
    if (after != null) {
      for (String shard : shards) {
        if (!now.ids().contains(shard) && leaving.putIfAbsent(shard, after) == null) {
          log.info("shard {} was removed, its stream is read to the end", shard);
        }
      }
    }
    begun = true;
    through = after;
    complete = after == null;
  }

  /**
   * Returns the position at which a shard's stream starts. A new shard's stream starts at the
   * position of the last list without the shard, because the shard has no earlier events.
   */
  private String place(String shard, @Nullable Checkpoint start) {
    String known = through;
    if (begun && known != null) {
      log.info("shard {} was added, reading its stream", shard);
      return known;
    }
    if (start == null) {
      throw new IllegalStateException("the stream has no position to start at");
    }
    return start.token(shard);
  }

  private void add(String shard, String after) {
    for (int part = 0; part < splitsPerShard; part++) {
      ShardSplit split = new ShardSplit(shard, part, splitsPerShard, after);
      pending.add(split);
      running.add(split.splitId());
    }
  }

  /** Assigns splits when all readers are registered, so that each reader gets its share. */
  private void assign() {
    if (!begun || context.registeredReaders().size() < context.currentParallelism()) {
      return;
    }
    Map<Integer, List<ShardSplit>> shares = new HashMap<>();
    for (ShardSplit split : pending) {
      shares
          .computeIfAbsent(next++ % context.currentParallelism(), reader -> new ArrayList<>())
          .add(split);
    }
    pending.clear();
    if (!shares.isEmpty()) {
      context.assignSplits(new SplitsAssignment<>(shares));
    }
    announce();
  }

  private void announce() {
    Placed placed = new Placed(through, leaving);
    for (int reader : context.registeredReaders().keySet()) {
      context.sendEventToSourceReader(reader, placed);
      if (running.isEmpty()) {
        context.signalNoMoreSplits(reader);
      }
    }
  }

  @Override
  public void handleSplitRequest(int subtask, @Nullable String host) {
    // Nothing to do: splits are assigned without requests.
  }

  @Override
  public void addSplitsBack(List<ShardSplit> splits, int subtask) {
    pending.addAll(splits);
  }

  @Override
  public void addReader(int subtask) {
    assign();
  }

  @Override
  public void handleSourceEvent(int subtask, SourceEvent event) {
    if (!(event instanceof SplitEnded ended)) {
      return;
    }
    running.remove(ended.splitId());
    String invalidated = ended.invalidated();
    if (invalidated != null) {
      // An invalidation ends the whole stream, as it ends the driver's stream.
      complete = true;
      for (String shard : shards) {
        leaving.merge(shard, invalidated, (one, other) -> one.compareTo(other) < 0 ? one : other);
      }
    }
    Set<String> left = new HashSet<>();
    running.forEach(id -> left.add(ShardSplit.shardOf(id)));
    if (!complete) {
      leaving.keySet().removeIf(shard -> !left.contains(shard) && shards.remove(shard));
    }
    assign();
  }

  @Override
  public AssignedSplits snapshotState(long checkpointId) {
    return new AssignedSplits(
        new HashSet<>(shards),
        new HashMap<>(leaving),
        through,
        List.copyOf(pending),
        new HashSet<>(running));
  }

  @Override
  public void close() {
    cluster.close();
  }
}
