package dev.onehop.measure.delivery;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.PropagateMeasurement;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Runs many clients in several processes. The clients bootstrap, write and read at the same time.
 * An instance measures once.
 *
 * @param signals has the number that marks the rows; the clients write other signals
 */
record LoadRun(PropagatePlan plan, PropagatePlan.Point point, Signals signals, Session session) {

  private static final Duration START = Duration.ofMinutes(3);

  /** The time that a process may need in addition to the time of its writes. */
  private static final Duration BESIDES = Duration.ofMinutes(3);

  /**
   * Turns the optimizing compiler off in the processes of clients. In a short run, this compiler
   * takes processor time from the measured program.
   */
  private static final List<String> QUICK_COMPILER = List.of("-XX:TieredStopAtLevel=1");

  /** Runs the measurement. */
  List<PropagateMeasurement> measure(Path folder) throws InterruptedException, IOException {
    int count = Math.min(plan.processes(), point.clients());
    Duration patience = signals.patience();
    Map<String, Findings> sum = LoadMain.nothing();
    try (Children clients = new Children("a process of clients", QUICK_COMPILER, LoadMain.class)) {
      session.progress().state("starting clients");
      for (int i = 0; i < count; i++) {
        Path its = folder.resolve("process-" + i);
        clients.start(task(i, count, its), its);
      }
      clients.await(Children.READY, START.plus(patience));
      session.progress().state("bootstrapping, writing, listening");
      clients.reports(
          LoadMain.GO,
          plan.duration().plus(BESIDES).plus(patience),
          new TypeReference<Map<String, Findings>>() {},
          its ->
              sum.forEach(
                  (path, findings) -> findings.addAll(Objects.requireNonNull(its.get(path)))));
    }
    return Findings.write(sum, point, count, 1, folder);
  }

  private LoadMain.Task task(int index, int count, Path folder) {
    int first = point.clients() * index / count;
    return new LoadMain.Task(
        session.cluster().url(),
        signals.run(),
        first,
        point.clients() * (index + 1) / count - first,
        point,
        plan.clientRate(),
        plan.duration().toMillis(),
        plan.await().toMillis(),
        signals.patience().toMillis(),
        plan.total(),
        folder);
  }
}
