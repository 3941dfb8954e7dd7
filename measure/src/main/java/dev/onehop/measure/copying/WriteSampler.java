package dev.onehop.measure.copying;

import com.mongodb.MongoException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Asks the destination's shards all the time how many statements that write they were given. What a
 * copy writes for itself is among them; it is little.
 */
final class WriteSampler {
  private static final long PAUSE_MILLIS = 100;

  /** A copy is timed without this part of what is written at its beginning, and at its end. */
  static final double MARGIN = 0.01;

  /** Shorter times are not told apart. */
  private static final double LEAST_SECONDS = 0.001;

  private final Side destination;
  private final List<Sample> samples = new ArrayList<>(); // guarded by this
  private final Thread thread = new Thread(this::run, "sampler");
  private boolean stopped; // guarded by this

  /** How many there were at a moment. */
  record Sample(long nanos, long written) {}

  private WriteSampler(Side destination) {
    this.destination = destination;
  }

  static WriteSampler start(Side destination) {
    WriteSampler sampler = new WriteSampler(destination);
    boolean unused = sampler.sample();
    sampler.thread.start();
    return sampler;
  }

  private synchronized boolean sample() {
    if (!stopped) {
      long written = destination.written();
      samples.add(new Sample(System.nanoTime(), written));
    }
    return !stopped;
  }

  private void run() {
    try {
      do {
        Thread.sleep(PAUSE_MILLIS);
      } while (sample());
    } catch (InterruptedException | MongoException e) {
      // stop() throws it.
    }
  }

  /** Ends it and gives what it saw. */
  synchronized Written stop() {
    boolean unused = sample();
    stopped = true;
    return of(samples);
  }

  /**
   * What was seen.
   *
   * @param startSeconds from the beginning until the first hundredth was written
   * @param seconds from then until all but the last hundredth was
   * @param series documents per second, in each whole second of that time
   */
  record Written(double startSeconds, double seconds, List<Double> series) {}

  static Written of(List<Sample> samples) {
    Sample first = samples.get(0);
    Sample last = samples.get(samples.size() - 1);
    double all = last.written() - first.written();
    double begin = timeOf(samples, first.written() + MARGIN * all);
    double end = timeOf(samples, last.written() - MARGIN * all);
    List<Double> series = new ArrayList<>();
    for (int second = 0; second + 1 <= end - begin; second++) {
      series.add(writtenAt(samples, begin + second + 1) - writtenAt(samples, begin + second));
    }
    return new Written(begin - seconds(first), Math.max(LEAST_SECONDS, end - begin), series);
  }

  private static double seconds(Sample sample) {
    return sample.nanos() / (double) TimeUnit.SECONDS.toNanos(1);
  }

  /** When so many were written, between two samples as if at an even rate. */
  private static double timeOf(List<Sample> samples, double written) {
    Sample before = samples.get(0);
    for (Sample sample : samples) {
      if (sample.written() >= written) {
        double rise = sample.written() - before.written();
        double part = rise == 0 ? 0 : (written - before.written()) / rise;
        return seconds(before) + part * (seconds(sample) - seconds(before));
      }
      before = sample;
    }
    return seconds(before);
  }

  private static double writtenAt(List<Sample> samples, double second) {
    Sample before = samples.get(0);
    for (Sample sample : samples) {
      if (seconds(sample) >= second) {
        double time = seconds(sample) - seconds(before);
        double part = time == 0 ? 0 : (second - seconds(before)) / time;
        return before.written() + part * (sample.written() - before.written());
      }
      before = sample;
    }
    return before.written();
  }
}
