package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * The results of a run of {@code onehop bench copy} or {@code bench verify}: the content of its
 * {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from others
 * @param envelope the common part of all such files
 * @param points the finished copies in the order they ran
 */
public record CopyBenchResults(
    String command, @JsonUnwrapped Envelope envelope, List<CopyBenchRun> points)
    implements RunResults {

  /** The value of {@code command}. */
  public static final String COMMAND = "copy";

  /** Creates results of this version. */
  public CopyBenchResults(Envelope envelope, List<CopyBenchRun> points) {
    this(COMMAND, envelope, points);
  }

  /**
   * The titles of all measurements, each once: full copies first, otherwise in the order they ran.
   */
  public List<String> titles() {
    return points.stream()
        .sorted(Comparator.comparing(run -> !run.kind().equals(CopyBenchRun.FULL)))
        .map(CopyBenchRun::title)
        .distinct()
        .toList();
  }

  /** The tools, OneHop as the last. */
  public List<String> tools() {
    return points.stream()
        .map(CopyBenchRun::tool)
        .distinct()
        .sorted(Comparator.comparing(CopyBenchRun.ONEHOP::equals))
        .toList();
  }

  /** The runs of a tool, in the order of their rounds. */
  public List<CopyBenchRun> runs(String title, String tool) {
    return points.stream()
        .filter(run -> run.title().equals(title) && run.tool().equals(tool))
        .toList();
  }

  /**
   * The ratio of OneHop to another tool, over rounds.
   *
   * @param other the other tool
   * @param figure the figure to compare
   * @return empty if no round has both, or a figure is not above 0
   */
  public Optional<Bootstrap> ratio(
      String title, String other, ToDoubleFunction<CopyBenchRun> figure) {
    List<Double> ours = new ArrayList<>();
    List<Double> theirs = new ArrayList<>();
    for (CopyBenchRun run : runs(title, CopyBenchRun.ONEHOP)) {
      runs(title, other).stream()
          .filter(its -> its.round() == run.round())
          .findFirst()
          .ifPresent(
              its -> {
                ours.add(figure.applyAsDouble(run));
                theirs.add(figure.applyAsDouble(its));
              });
    }
    RunFacts run = run();
    return Bootstrap.ofPairs(ours, theirs, run == null ? 0 : run.load().seed());
  }

  /** The number of copies that differ from their source. */
  public long faults() {
    return points.stream().filter(run -> !run.verified()).count();
  }

  @Override
  public String fault() {
    return faults() == 0
        ? ""
        : "%d of %d copies differ from their source".formatted(faults(), points.size());
  }

  @Override
  public int finished() {
    return points.size();
  }
}
