package dev.onehop.measure.delivery;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.ChildJvm;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Many clients that bootstrap, write and listen at once, in several processes. Used once. */
final class LoadRun {

  private static final Duration START = Duration.ofMinutes(3);

  /** For what takes its time at the begin and at the end of the writing. */
  private static final Duration BESIDES = Duration.ofMinutes(3);

  /**
   * As for the command itself: in a short run the optimizing compiler would take the processors
   * from what is measured.
   */
  private static final List<String> QUICK_COMPILER = List.of("-XX:TieredStopAtLevel=1");

  private static final ObjectMapper JSON = new ObjectMapper();

  private final PropagatePlan plan;
  private final PropagatePlan.Point point;
  private final ClusterUrl url;
  private final int run;
  private final Duration patience;
  private final Progress progress;

  LoadRun(
      PropagatePlan plan,
      PropagatePlan.Point point,
      ClusterUrl url,
      int run,
      Duration patience,
      Progress progress) {
    this.plan = plan;
    this.point = point;
    this.url = url;
    this.run = run;
    this.patience = patience;
    this.progress = progress;
  }

  /**
   * Measures.
   *
   * @param folder for the logs
   */
  List<PropagateMeasurement> measure(Path folder) throws InterruptedException, IOException {
    Path own = Files.createDirectories(folder.resolve(point.folder()));
    int count = Math.min(plan.processes(), point.clients());
    List<Path> folders = new ArrayList<>();
    List<ChildJvm> processes = new ArrayList<>();
    try {
      progress.state("starting clients");
      for (int i = 0; i < count; i++) {
        Path its = own.resolve("process-" + i).toAbsolutePath();
        folders.add(its);
        processes.add(start(i, count, its));
      }
      for (ChildJvm process : processes) {
        var unused = process.await(LoadMain.READY, START.plus(patience));
      }
      progress.state("bootstrapping, writing, listening");
      processes.forEach(process -> process.send(LoadMain.GO));
      for (ChildJvm process : processes) {
        var unused = process.await(LoadMain.DONE, plan.duration().plus(BESIDES).plus(patience));
      }
    } finally {
      processes.forEach(ChildJvm::close);
    }
    return results(own, folders, count);
  }

  private ChildJvm start(int index, int count, Path folder) throws IOException {
    int first = point.clients() * index / count;
    LoadTask task =
        new LoadTask(
            url.secret(),
            url.authority() == null ? null : String.valueOf(url.authority()),
            run,
            first,
            point.clients() * (index + 1) / count - first,
            point.documents(),
            point.bytes(),
            plan.clientRate(),
            plan.duration().toMillis(),
            plan.await().toMillis(),
            patience.toMillis(),
            plan.total(),
            folder.toString());
    return ChildJvm.start(
        "a process of clients",
        QUICK_COMPILER,
        LoadMain.class,
        JSON.writeValueAsString(task),
        folder,
        line -> false);
  }

  private List<PropagateMeasurement> results(Path own, List<Path> folders, int processes)
      throws IOException {
    List<LoadReport> reports = new ArrayList<>();
    for (Path each : folders) {
      Path file = each.resolve(LoadMain.REPORT);
      reports.add(JSON.readValue(file.toFile(), LoadReport.class));
      Files.delete(file); // Its content is in the logs.
    }
    List<PropagateMeasurement> results = new ArrayList<>();
    for (StreamPath path : StreamPath.values()) {
      Samples due = new Samples();
      Samples began = new Samples();
      Samples live = new Samples();
      Samples read = new Samples();
      long lost = 0;
      long doubled = 0;
      for (LoadReport report : reports) {
        for (LoadReport.OfPath its : report.paths()) {
          if (its.path() == path) {
            due.addAll(its.sinceDue());
            began.addAll(its.sinceBegan());
            live.addAll(its.live());
            read.addAll(its.read());
            lost += its.lost();
            doubled += its.doubled();
          }
        }
      }
      due.write(own.resolve(path.label() + "-latency.hlog"));
      began.write(own.resolve(path.label() + "-service.hlog"));
      live.write(own.resolve(path.label() + "-test.hlog"));
      read.write(own.resolve(path.label() + "-snapshot.hlog"));
      results.add(
          new PropagateMeasurement(
              point.measurement().label(),
              path.label(),
              point.clients(),
              processes,
              point.documents(),
              point.batch(),
              point.bytes(),
              1,
              due.summary(),
              began.summary(),
              live.summary(),
              read.summary(),
              lost,
              doubled,
              0,
              point.folder()));
    }
    return results;
  }
}
