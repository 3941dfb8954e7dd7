package dev.onehop.measure.copying;

import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The processes that copy, each for all copies of its way, so that they are warm. */
final class ToolProcesses implements AutoCloseable {
  /** Where the optimizing compiler would take the processors from a few small copies. */
  private static final List<String> QUICK_COMPILER = List.of("-XX:TieredStopAtLevel=1");

  private final Map<CopyTool, ToolProcess> all = new EnumMap<>(CopyTool.class);

  /**
   * Starts them, with the same JVM options.
   *
   * @param quick whether there are a few small copies only
   * @param logs the folder of their complaints
   */
  ToolProcesses(Side source, Side destination, boolean quick, Path logs) throws IOException {
    try {
      for (CopyTool way : CopyTool.values()) {
        boolean one = way == CopyTool.ONE;
        all.put(
            way,
            ToolProcess.start(
                new ToolTask(
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

  ToolProcess of(CopyTool way) {
    return Objects.requireNonNull(all.get(way));
  }

  @Override
  public void close() {
    all.values().forEach(ToolProcess::close);
  }
}
