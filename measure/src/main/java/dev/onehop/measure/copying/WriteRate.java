package dev.onehop.measure.copying;

import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Computes the rate of writes to a destination from samples of counters: the inserts, updates and
 * deletes of each shard. The counters include a few writes of the copying tool itself, such as
 * checkpoints.
 */
final class WriteRate {
  /** The fraction of all writes that is left out at the start, and again at the end. */
  static final double MARGIN = 0.01;

  /** The shortest time that can be measured. */
  private static final double LEAST_SECONDS = 0.001;

  private WriteRate() {}

  /**
   * The measured writes.
   *
   * @param startSeconds the time from the start until 1 % of the writes were done
   * @param seconds the time from then until 99 % of the writes were done
   * @param series the documents per second in each whole second of {@code seconds}
   */
  record Written(double startSeconds, double seconds, List<Double> series) {}

  /**
   * Computes the rate.
   *
   * @param samples the samples; at least one
   */
  static Written of(List<Sample<Long>> samples) {
    Sample<Long> first = samples.get(0);
    Sample<Long> last = samples.get(samples.size() - 1);
    double all = last.value() - first.value();
    double begin = timeOf(samples, first.value() + MARGIN * all);
    double end = timeOf(samples, last.value() - MARGIN * all);
    List<Double> series = new ArrayList<>();
    for (int second = 0; second + 1 <= end - begin; second++) {
      series.add(writtenAt(samples, begin + second + 1) - writtenAt(samples, begin + second));
    }
    return new Written(begin - seconds(first), Math.max(LEAST_SECONDS, end - begin), series);
  }

  private static double seconds(Sample<Long> sample) {
    return sample.nanos() / (double) TimeUnit.SECONDS.toNanos(1);
  }

  private static double timeOf(List<Sample<Long>> samples, double written) {
    return Sampler.at(samples, Sample::value, written, WriteRate::seconds);
  }

  private static double writtenAt(List<Sample<Long>> samples, double second) {
    return Sampler.at(samples, WriteRate::seconds, second, Sample::value);
  }
}
