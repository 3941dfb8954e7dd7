package dev.onehop.measure.frame;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads a value again and again with a fixed delay, on a separate thread, until it is closed.
 * Thread-safe.
 *
 * @param <T> the type of the value; immutable
 */
public final class Sampler<T> implements AutoCloseable {

  private final Callable<T> read;
  private final List<Sample<T>> samples =
      new ArrayList<>(); // accessed only with this object locked
  private final ScheduledExecutorService thread;
  private final Future<?> schedule;
  private @Nullable RuntimeException failure; // accessed only with this object locked
  private boolean closed; // accessed only with this object locked

  /** A value, and the time in the middle of its reading, by {@link System#nanoTime}. Immutable. */
  public record Sample<T>(long nanos, T value) {}

  private Sampler(Callable<T> read, Duration delay) {
    this.read = read;
    sample();
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread sampler = new Thread(task, "sampler");
              sampler.setDaemon(true);
              return sampler;
            });
    this.schedule =
        thread.scheduleWithFixedDelay(
            this::sample, delay.toNanos(), delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Reads the value at once, and then again and again. A failing read ends the sampler; {@link
   * #stop} throws the failure.
   *
   * @param delay the time between the end of a read and the next read
   */
  public static <T> Sampler<T> start(Duration delay, Callable<T> read) {
    return new Sampler<>(read, delay);
  }

  private synchronized void sample() {
    if (closed || failure != null) {
      return;
    }
    try {
      long asked = System.nanoTime();
      T value = read.call();
      samples.add(new Sample<>(asked + (System.nanoTime() - asked) / 2, value));
    } catch (RuntimeException e) {
      failure = e;
    } catch (Exception e) {
      failure = new IllegalStateException(e);
    }
  }

  /**
   * Returns a figure at the moment when {@code rising} reaches a value. {@code rising} is another
   * figure, which never falls. The result is interpolated between two samples. Outside of all
   * samples, it is the figure of the first or the last sample.
   *
   * @param samples the samples in the order of time; at least one
   */
  public static <S> double at(
      List<S> samples, ToDoubleFunction<S> rising, double value, ToDoubleFunction<S> figure) {
    S before = samples.get(0);
    for (S sample : samples) {
      double to = rising.applyAsDouble(sample);
      if (to >= value) {
        double from = rising.applyAsDouble(before);
        double part = to == from ? 0 : (value - from) / (to - from);
        double start = figure.applyAsDouble(before);
        return start + part * (figure.applyAsDouble(sample) - start);
      }
      before = sample;
    }
    return figure.applyAsDouble(before);
  }

  /** Reads the value a last time, ends the sampler, and returns all samples in their order. */
  public synchronized List<Sample<T>> stop() {
    sample();
    close();
    if (failure != null) {
      throw failure;
    }
    return List.copyOf(samples);
  }

  /** Ends the sampler without a last read. Has no effect if the sampler has ended. */
  @Override
  public synchronized void close() {
    closed = true;
    boolean unused = schedule.cancel(false);
    thread.shutdown();
  }
}
