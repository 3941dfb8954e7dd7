package dev.onehop.measure.copying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copy tools that users provide. A stub of the tool's HTTP interface returns recorded outputs of
 * real tools ({@code src/test/resources}). The tool's program is replaced by a script that only
 * waits.
 */
class RivalToolTest {
  @TempDir private Path folder;

  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final Map<String, String> answers = new ConcurrentHashMap<>();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private CopyEnd source;
  private CopyEnd destination;

  @BeforeEach
  void createEnds() {
    source = end("mongodb://127.0.0.1:1/?replicaSet=from");
    destination = end("mongodb://127.0.0.1:2/?replicaSet=to");
    opened.add(source);
    opened.add(destination);
  }

  /** An end without servers. */
  private static CopyEnd end(String url) {
    return new CopyEnd(url, url, null, null);
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  private Path program() throws IOException {
    Path script = Files.writeString(folder.resolve("program"), "#!/bin/sh\nexec sleep 600\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    return script;
  }

  private RivalTool start(CopyTool tool) throws IOException {
    RivalTool rival = (RivalTool) RivalTool.of(tool, program(), source, destination, folder);
    opened.add(rival);
    serve(rival.program());
    return rival;
  }

  private void serve(Program program) throws IOException {
    InetAddress here = InetAddress.getLoopbackAddress();
    HttpServer server = HttpServer.create(new InetSocketAddress(here, program.port()), 0);
    server.createContext("/", this::answer);
    server.start();
    opened.add(() -> server.stop(0));
  }

  private void answer(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String request = exchange.getRequestMethod() + " " + exchange.getRequestURI();
    requests.add(body.isEmpty() ? request : request + " " + body);
    byte[] answer = answers.getOrDefault(request, "{}").getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private static String recorded(String name) throws IOException {
    try (InputStream in = RivalToolTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void clusterSyncIsStartedPausedAndResumed() throws Exception {
    RivalTool rival = start(CopyTool.PCSM);
    answers.put("GET /status", recorded("pcsm-idle.json"));
    rival.launch();
    assertThat(folder.resolve("command.txt"))
        .content()
        .contains(
            "--source=mongodb://127.0.0.1:1/?replicaSet=from",
            "--target=mongodb://127.0.0.1:2/?replicaSet=to",
            "--port=" + rival.program().port());

    answers.put("POST /start", recorded("pcsm-ok.json"));
    rival.begin();
    assertThat(requests)
        .contains("POST /start {\"includeNamespaces\": [\"ycsb.*\", \"signals.*\"]}");
    answers.put("GET /status", recorded("pcsm-cloning.json"));
    assertThat(rival.hasCopied()).isFalse();
    answers.put("GET /status", recorded("pcsm-running.json"));
    assertThat(rival.hasCopied()).isTrue();

    answers.put("POST /pause", recorded("pcsm-refused.json"));
    assertThat(rival.pause()).isFalse();
    answers.put("POST /pause", recorded("pcsm-ok.json"));
    assertThat(rival.pause()).isTrue();
    answers.put("POST /resume", recorded("pcsm-ok.json"));
    rival.follow(new BsonTimestamp(1));
    assertThat(rival.use().memoryBytes()).isPositive();
  }

  @Test
  void rejectedRequestFailsWithReason() throws Exception {
    RivalTool rival = start(CopyTool.PCSM);
    answers.put("GET /status", recorded("pcsm-idle.json"));
    rival.launch();
    answers.put("POST /resume", recorded("pcsm-refused.json"));
    assertThatThrownBy(() -> rival.follow(new BsonTimestamp(1)))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith("pcsm failed at /resume: ");
  }

  @Test
  void mongosyncStartsOnceIdle() throws Exception {
    RivalTool rival = start(CopyTool.MONGOSYNC);
    answers.put("GET /api/v1/progress", "{\"success\": true, \"progress\": {\"state\": \"IDLE\"}}");
    rival.launch();
    answers.put("POST /api/v1/start", "{\"success\": true}");
    rival.begin();
    assertThat(requests)
        .contains(
            "POST /api/v1/start {\"source\": \"cluster0\", \"destination\": \"cluster1\","
                + " \"includeNamespaces\": [{\"database\": \"ycsb\"}, {\"database\":"
                + " \"signals\"}]}");
    answers.put(
        "GET /api/v1/progress",
        "{\"success\": true, \"progress\": {\"state\": \"RUNNING\", \"canCommit\": true}}");
    assertThat(rival.hasCopied()).isTrue();
    answers.put(
        "POST /api/v1/pause",
        "{\"success\": false, \"error\": \"InvalidStateTransition\","
            + " \"errorDescription\": \"cannot pause\"}");
    assertThat(rival.pause()).isFalse();
  }

  @Test
  void mongoShakeReceivesConfiguration() throws Exception {
    RivalTool rival = start(CopyTool.MONGOSHAKE);
    rival.launch();
    assertThat(folder.resolve("collector.conf")).doesNotExist();
    rival.begin();
    assertThat(folder.resolve("collector.conf"))
        .content()
        .contains(
            "sync_mode = all",
            "mongo_urls = mongodb://127.0.0.1:1/?replicaSet=from",
            "tunnel.address = mongodb://127.0.0.1:2/?replicaSet=to",
            "filter.namespace.white = ycsb;signals");
    assertThat(rival.pause()).isTrue();
    assertThat(rival.use().cpu()).isGreaterThanOrEqualTo(Duration.ZERO);
  }

  @Test
  @Timeout(60)
  void migrationVerifierComparesUntilItIsIdle() throws Exception {
    MigrationVerifier verifier =
        (MigrationVerifier)
            RivalTool.of(CopyTool.MIGRATION_VERIFIER, program(), source, destination, folder);
    opened.add(verifier);
    serve(verifier.program());
    answers.put("GET /api/v1/progress", progress(0));
    verifier.verify(List.of("c0"));
    assertThat(requests).contains("POST /api/v1/check {}", "POST /api/v1/writesOff {}");
    assertThat(folder.resolve("command.txt"))
        .content()
        .contains("--srcNamespace=ycsb.c0 --dstNamespace=onehop.c0");

    answers.put("GET /api/v1/progress", progress(1));
    assertThatThrownBy(() -> verifier.verify(List.of("c0")))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith("migration-verifier found differences");
  }

  /**
   * The last progress of migration-verifier, as recorded from a run. The second generation has a
   * task only for documents that were different in the first one.
   */
  private static String progress(int failedTasks) {
    return """
    {"progress": {"phase": "idle", "generation": 1, "error": null,
      "verificationStatus": {"totalTasks": %1$d, "failedTasks": %1$d, "metadataMismatchTasks": 0}}}
    """
        .formatted(failedTasks);
  }

  @Test
  void endedProgramIsFailure() throws Exception {
    Path script = Files.writeString(folder.resolve("ends"), "#!/bin/sh\necho no licence\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    Program program = new Program("pcsm", script, folder);
    assertThatThrownBy(() -> program.start(List.of(), () -> false))
        .isInstanceOf(Failure.class)
        .hasMessage("pcsm ended; see " + folder.resolve("pcsm.log"));
    assertThat(folder.resolve("pcsm.log")).content().contains("no licence");
  }
}
