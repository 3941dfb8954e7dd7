package dev.onehop.cli.bench;

import com.mongodb.MongoException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDateTime;

/**
 * Evidence of one point: each shard's counters, sampled on a thread per shard, and a sample of its
 * operations with the addresses they came from.
 */
final class ServerWatch implements Cluster.Watch {

  private static final Duration INTERVAL = Duration.ofMillis(500);
  private static final Duration SLICE_EVERY = Duration.ofMillis(600);

  private final Map<String, ShardWitness> shards;
  private final Map<String, String> addresses;
  private final String collection;
  private final ShareSampler sampler = new ShareSampler();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean ended;

  /**
   * Begins to watch.
   *
   * @param shards the shards by name
   * @param addresses the address of each shard's host
   * @param sampleRate the fraction of operations to look at closely
   */
  ServerWatch(
      Map<String, ShardWitness> shards,
      Map<String, String> addresses,
      String collection,
      double sampleRate) {
    this.shards = shards;
    this.addresses = addresses;
    this.collection = collection;
    shards.forEach(
        (name, shard) -> {
          shard.profile(sampleRate >= 1);
          sample(name, shard);
          Thread thread =
              new Thread(() -> sampleUntilEnded(name, shard, sampleRate), "watch-" + name);
          thread.setDaemon(true);
          threads.add(thread);
          thread.start();
        });
  }

  private void sampleUntilEnded(String name, ShardWitness shard, double sampleRate) {
    try {
      while (!ended) {
        Thread.sleep(INTERVAL.toMillis());
        sample(name, shard);
        if (sampleRate < 1) {
          // Every operation of a slice of time, then none until the next.
          shard.profile(true);
          Thread.sleep((long) Math.max(1, SLICE_EVERY.toMillis() * sampleRate));
          shard.profile(false);
        }
      }
    } catch (InterruptedException e) {
      // Ended.
    } catch (MongoException e) {
      // A shard that no longer answers has died, or is being stopped: that is told elsewhere.
      ended = true;
    }
  }

  private void sample(String name, ShardWitness shard) {
    long asked = System.nanoTime();
    long operations = shard.operations(collection);
    // The shard counted about halfway between question and answer.
    long counted = asked + (System.nanoTime() - asked) / 2;
    sampler.add(name, counted, operations);
  }

  @Override
  public Cluster.Evidence evidence(long fromNanos, long toNanos) {
    end();
    shards.forEach(this::sample);
    shards.values().forEach(shard -> shard.profile(false));
    long seen = 0;
    long beside = 0;
    for (Map.Entry<String, ShardWitness> shard : shards.entrySet()) {
      String own = addresses.get(shard.getKey());
      for (String caller : shard.getValue().callers(collection, time(fromNanos), time(toNanos))) {
        seen++;
        beside += caller.equals(own) ? 1 : 0;
      }
    }
    return new Cluster.Evidence(
        sampler.shares(fromNanos, toNanos),
        seen == 0 ? null : (double) beside / seen,
        seen == 0 ? null : seen);
  }

  /** The wall clock's time at a moment of {@link System#nanoTime}. */
  private static BsonDateTime time(long nanos) {
    return new BsonDateTime(System.currentTimeMillis() - (System.nanoTime() - nanos) / 1_000_000);
  }

  private void end() {
    ended = true;
    threads.forEach(Thread::interrupt);
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    threads.clear();
  }

  @Override
  public void close() {
    end();
  }
}
