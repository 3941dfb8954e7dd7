package dev.onehop.jmh.streams;

import dev.onehop.jmh.check.Bar;
import dev.onehop.streams.channel.ChangeChannels;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The time that events need from the stream through the channels to a processor that does nothing.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ChannelsBenchmark {
  private static final int EVENTS = 10_000;

  @Param({"1", "64"})
  private int channels;

  private final List<StreamEvent> events =
      StubEvents.ofShards(1, EVENTS).get(0).stream()
          .<StreamEvent>map(
              event -> {
                String token = event.getDocument("_id").getString("_data").getValue();
                return new StreamEvent.Change("one", token, event, 0, Checkpoint.at(token));
              })
          .toList();

  /** Processes all events of a stream. */
  // Each batch needs one task per channel. The speed with 64 channels is 0.37 to 0.7 of the speed
  // with one channel. An earlier version woke a thread for each task, and its ratio was 0.14 to
  // 0.2.
  @Bar(
      name = "64 channels to one",
      parameters = "channels=64",
      baselineParameters = "channels=1",
      atLeast = 0.2)
  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public int process() {
    AtomicInteger processed = new AtomicInteger();
    Mono.from(
            ChangeChannels.builder(
                    Flux.fromIterable(events).subscribeOn(Schedulers.single()), channels)
                .build()
                .process(
                    (channel, batch) -> {
                      processed.addAndGet(batch.size());
                      return Mono.empty();
                    }))
        .block();
    return processed.get();
  }
}
