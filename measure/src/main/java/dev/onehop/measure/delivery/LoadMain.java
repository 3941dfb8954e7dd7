package dev.onehop.measure.delivery;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.ChildMain;
import dev.onehop.resync.ClusterUrl;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonTimestamp;

/**
 * Clients in a process of their own. Its standard input has the task in the first line, as JSON,
 * and then {@code go}; its end ends the process. Standard output has {@code ready}, and then {@code
 * done} when the report is in the task's folder.
 */
public final class LoadMain {

  static final String READY = "ready";
  static final String GO = "go";
  static final String DONE = "done";
  static final String REPORT = "report.json";

  private static final long SETTLE_MILLIS = 200;
  private static final long WARMUP_MILLIS = 3_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private static volatile boolean done;

  private LoadMain() {}

  /** Does what its standard input says. */
  public static void main(String[] args) {
    ChildMain.run(LoadTask.class, LoadMain::run);
  }

  private static void run(LoadTask task, BufferedReader in, PrintStream out)
      throws IOException, InterruptedException {
    ClusterUrl url = ClusterUrl.handedOver(task.url(), task.authorityFile());
    StreamRequest request =
        new StreamRequest(
            Connections.settings(url.secret(), url.authority()),
            url.database(),
            PropagateRun.COLLECTION,
            new BsonTimestamp(),
            List.of(),
            task.await(),
            task.total());
    List<LoadClient> clients = new ArrayList<>();
    try (RowCollection collection = new RowCollection(url, PropagateRun.COLLECTION)) {
      List<HashRanges> shards = List.copyOf(collection.byShard().values());
      for (int i = 0; i < task.clients(); i++) {
        int other = task.firstClient() + (i + 1) % task.clients();
        clients.add(new LoadClient(task, url, request, shards, task.firstClient() + i, other));
      }
      SideBySide.run(
          clients.stream()
              .<SideBySide.Part>map(client -> () -> client.prepare(task.documents()))
              .toList());
      // Unmeasured, so that programs are warm.
      var unused = measure(task, clients, 0, WARMUP_MILLIS);
      say(out, READY);
      if (!GO.equals(in.readLine())) {
        return;
      }
      endWithParent(in);
      JSON.writeValue(
          Path.of(task.folder()).resolve(REPORT).toFile(),
          measure(task, clients, 1, task.durationMillis()));
      done = true;
      say(out, DONE);
    } finally {
      clients.forEach(LoadClient::close);
    }
  }

  private static void say(PrintStream out, String line) {
    out.println(line);
    out.flush();
  }

  /** Ends this process when its parent was killed. */
  private static void endWithParent(BufferedReader in) {
    Thread watch =
        new Thread(
            () -> {
              try {
                while (in.readLine() != null) {
                  // There is nothing more to say.
                }
              } catch (IOException e) {
                // Likewise the end.
              }
              if (!done) {
                Runtime.getRuntime().halt(1);
              }
            },
            "parent-watch");
    watch.setDaemon(true);
    watch.start();
  }

  private static LoadReport measure(
      LoadTask task, List<LoadClient> clients, int round, long durationMillis)
      throws InterruptedException {
    SideBySide.run(
        clients.stream().<SideBySide.Part>map(client -> () -> client.begin(round)).toList());
    Thread.sleep(durationMillis);
    Map<Integer, Map<Long, Integer>> written = new HashMap<>();
    for (int i = 0; i < clients.size(); i++) {
      written.put(task.firstClient() + i, clients.get(i).stopWriting());
    }
    SideBySide.run(clients.stream().<SideBySide.Part>map(each -> each::awaitWritten).toList());
    Thread.sleep(SETTLE_MILLIS);
    List<LoadReport.OfPath> paths = new ArrayList<>();
    for (StreamPath path : StreamPath.values()) {
      Samples due = new Samples();
      Samples began = new Samples();
      Samples live = new Samples();
      Samples read = new Samples();
      long lost = 0;
      long doubled = 0;
      for (LoadClient client : clients) {
        Subscription its = client.by(path);
        ChangeChecker.Verdict verdict =
            its.checker().verdict(written.getOrDefault(client.listensTo(), Map.of()));
        lost += verdict.lost();
        doubled += verdict.doubled();
        due.addAll(its.sinceDue().toArray());
        began.addAll(its.sinceBegan().toArray());
        live.add(its.liveMicros());
        read.add(its.readMicros());
      }
      paths.add(
          new LoadReport.OfPath(
              path, due.toArray(), began.toArray(), live.toArray(), read.toArray(), lost, doubled));
    }
    return new LoadReport(paths);
  }
}
