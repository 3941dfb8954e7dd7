package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.ProcessUse;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** An open stream with its consumer, sampled a few times a second until it is closed. */
final class Consumption {

  private static final long SAMPLE_MILLIS = 100;

  private final RowConsumer consumer;
  private final EventStream stream;
  private final Consumer<String> listener;
  private final long openedMicros;
  private final List<ConsumerReport.Sample> samples = new ArrayList<>(); // of the sampler's thread
  private final Thread sampler;

  private Consumption(
      RowConsumer consumer, EventStream stream, Consumer<String> listener, long openedMicros) {
    this.consumer = consumer;
    this.stream = stream;
    this.listener = listener;
    this.openedMicros = openedMicros;
    this.sampler = new Thread(this::sampleUntilClosed, "sampler");
  }

  /**
   * Opens the stream.
   *
   * @param listener gets {@code seen N} with each sample, and why the stream failed if it does
   */
  static Consumption open(ConsumerTask task, Consumer<String> listener) {
    RowConsumer consumer = new RowConsumer(task);
    long opened = Clock.micros();
    ConsumerReport.Sample first = sample(consumer);
    EventStream stream =
        task.source().equals(StreamSource.MONGOS.label())
            ? MongosStream.open(task, consumer)
            : DirectStream.open(task, consumer);
    Consumption consumption = new Consumption(consumer, stream, listener, opened);
    consumption.samples.add(first);
    consumption.sampler.start();
    return consumption;
  }

  RowConsumer consumer() {
    return consumer;
  }

  private void sampleUntilClosed() {
    try {
      while (true) {
        Thread.sleep(SAMPLE_MILLIS);
        samples.add(sample(consumer));
        listener.accept(ConsumerMain.SEEN + consumer.checker().distinct());
        Throwable failure = stream.failure();
        if (failure != null) {
          failure.printStackTrace();
          listener.accept(ConsumerMain.FAILED + failure);
          return;
        }
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private static ConsumerReport.Sample sample(RowConsumer consumer) {
    return new ConsumerReport.Sample(
        Clock.micros(),
        ProcessUse.cpuNanos(),
        ProcessUse.memoryBytes(),
        consumer.rows(),
        consumer.bytes());
  }

  /** Closes the stream; the consumer is at rest afterwards. */
  ConsumerReport close() {
    stream.close();
    sampler.interrupt();
    try {
      sampler.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    samples.add(sample(consumer));
    RowChecker checker = consumer.checker();
    return new ConsumerReport(
        openedMicros,
        Math.max(openedMicros, consumer.lastMicros()),
        checker.distinct(),
        checker.doubled(),
        checker.outOfOrder(),
        consumer.negative(),
        samples);
  }
}
