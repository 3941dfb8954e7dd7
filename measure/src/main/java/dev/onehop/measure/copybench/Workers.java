package dev.onehop.measure.copybench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The processes that copy, each for all copies of its way, so that they are warm. */
final class Workers implements AutoCloseable {
  /** Where the optimizing compiler would take the processors from a few small copies. */
  private static final List<String> QUICK_COMPILER = List.of("-XX:TieredStopAtLevel=1");

  private final Map<Way, Worker> all = new EnumMap<>(Way.class);

  /**
   * Starts them, with the same JVM options.
   *
   * @param quick whether there are a few small copies only
   * @param logs the folder of their complaints
   */
  Workers(Side source, Side destination, boolean quick, Path logs) throws IOException {
    try {
      for (Way way : Way.values()) {
        boolean one = way == Way.ONE;
        all.put(
            way,
            Worker.start(
                new WorkerTask(
                    way,
                    one ? source.urlOfOne() : source.url(),
                    one ? destination.urlOfOne() : destination.url()),
                quick ? QUICK_COMPILER : List.of(),
                logs.resolve(way.label())));
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  Worker of(Way way) {
    return Objects.requireNonNull(all.get(way));
  }

  @Override
  public void close() {
    all.values().forEach(Worker::close);
  }
}
