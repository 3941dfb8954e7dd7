package dev.onehop.measure.points;

import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.Latencies;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Combines the results of clients that ran on other machines, each with its own results.json, into
 * one run with several clients.
 */
public final class CollectedRun {

  private CollectedRun() {}

  /**
   * Adds the results and writes summaries, HdrHistogram logs and results.json.
   *
   * @param parts the clients' folders, each with results.json and logs
   * @param out the folder for the combined run
   * @throws Failure if the folders are not the clients of one run, or a file can't be read or
   *     written
   */
  public static Results merge(List<Path> parts, Path out) {
    List<Results> all = parts.stream().map(ResultsFile::read).toList();
    Results first = all.get(0);
    List<Point> points = new ArrayList<>();
    List<ClientRun> clients = new ArrayList<>();
    for (Point point : first.points()) {
      List<Point> same = new ArrayList<>();
      for (int i = 0; i < parts.size(); i++) {
        Path part = parts.get(i);
        same.add(
            all.get(i).points().stream()
                .filter(other -> other.folder().equals(point.folder()))
                .findFirst()
                .orElseThrow(() -> Failure.run(part + " has no " + point.folder(), null)));
      }
      List<Path> folders = parts.stream().map(part -> part.resolve(point.folder())).toList();
      Path folder = out.resolve(point.folder());
      ClientRun run = MergedClients.merge(folder, point.folder(), folders);
      requireWhole(run);
      clients.add(run);
      points.add(sum(same, run, folder));
    }
    Results merged =
        new Results(
            first.envelope(),
            points,
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            clients,
            List.of());
    ResultsFile.write(out, merged);
    return merged;
  }

  private static void requireWhole(ClientRun run) {
    for (int index = 0; index < run.clients().size(); index++) {
      if (run.clients().get(index).index() != index) {
        throw Failure.run(
            "%s: client %d is missing or duplicated; these are not the clients of one run"
                .formatted(run.folder(), index),
            null);
      }
    }
  }

  /**
   * Adds the clients' results of a point. Facts about the cluster are the same for all clients, and
   * the clients' own figures are added.
   */
  private static Point sum(List<Point> same, ClientRun run, Path folder) {
    Point first = same.get(0);
    RunSummary summary = RunSummary.of(folder);
    long errors = same.stream().mapToLong(Point::errors).sum();
    return new Point(
        first.client(),
        first.threads(),
        summary.done(errors, Point.Done.failures(same)),
        first.bounds(),
        first.evidence(),
        cpu(run),
        null,
        summary.routes(),
        first.folder(),
        Latencies.of(folder));
  }

  /** Returns the processor time of all clients per operation. The servers' time is unknown. */
  private static @Nullable CpuPerOperation cpu(ClientRun run) {
    double micros = 0;
    long operations = 0;
    for (ClientRun.Part part : run.clients()) {
      Double each = part.cpu();
      if (each != null) {
        micros += each * part.operations();
        operations += part.operations();
      }
    }
    return operations == 0
        ? null
        : new CpuPerOperation(Math.round(micros / operations * 10) / 10.0, null, null, null);
  }
}
