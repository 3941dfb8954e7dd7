package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The replies of a copy's HTTP server, and the requests that it refuses. */
class CopyServerTest {
  private final AtomicInteger pauses = new AtomicInteger();
  private final CopyServer server =
      new CopyServer(
          "0",
          () ->
              CopyReportTest.progress(
                  CopyPhase.FULL, null, Duration.ofSeconds(3), null, Duration.ofSeconds(9)),
          Map.of(
              "/pause",
              pauses::incrementAndGet,
              "/finish",
              () -> {
                throw new CopyException("the destination has no job move", null);
              }));

  @AfterEach
  void close() {
    server.close();
  }

  private HttpResponse<String> send(String method, String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d%s".formatted(server.port(), path)))
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HttpClient.newHttpClient()
        .send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
  }

  @Test
  void statusReturnsProgressAsJson() throws Exception {
    HttpResponse<String> status = send("GET", "/status");
    assertThat(status.statusCode()).isEqualTo(200);
    assertThat(status.headers().firstValue("Content-Type")).contains("application/json");
    assertThat(new ObjectMapper().readTree(status.body()).get("documentsDone").asLong())
        .isEqualTo(250_000);
  }

  @Test
  void metricsUsePrometheusTextFormat() throws Exception {
    assertThat(send("GET", "/metrics").body().lines())
        .contains(
            "# TYPE onehop_copy_phase gauge",
            "onehop_copy_phase{job=\"move\",phase=\"full\"} 1",
            "onehop_copy_phase{job=\"move\",phase=\"done\"} 0",
            "onehop_copy_phase_seconds{job=\"move\",phase=\"full\"} 12.1",
            "# HELP onehop_copy_lag_seconds seconds by which the destination is behind the source",
            "onehop_copy_lag_seconds{job=\"move\"} 3.0",
            "onehop_copy_documents_copied{job=\"move\"} 250000")
        .noneMatch(line -> line.contains("oplog") || line.contains("null"))
        .allMatch(line -> line.matches("# (HELP|TYPE) .+|onehop_\\w+\\{[^}]+} [\\d.E]+"));
  }

  @Test
  void changesRequirePost() throws Exception {
    assertThat(send("GET", "/pause").statusCode()).isEqualTo(405);
    assertThat(send("GET", "/pause").headers().firstValue("Allow")).contains("POST");
    assertThat(pauses).hasValue(0);
    HttpResponse<String> paused = send("POST", "/pause");
    assertThat(paused.statusCode()).isEqualTo(202);
    assertThat(paused.body()).isEqualTo("{\"accepted\": \"pause\"}\n");
    assertThat(pauses).hasValue(1);
    HttpResponse<String> early = send("POST", "/finish");
    assertThat(early.statusCode()).isEqualTo(503);
    assertThat(early.body()).isEqualTo("the destination has no job move\n");
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /status, 405",
    "HEAD, /status, 405",
    "DELETE, /pause, 405",
    "GET, /, 404",
    "POST, /drop, 404"
  })
  void rejectsUnknownPathsAndMethods(String method, String path, int code) throws Exception {
    assertThat(send(method, path).statusCode()).isEqualTo(code);
  }

  /**
   * The DNS server of a hostile web page can resolve the page's name to this machine. The copy's
   * server therefore refuses all host names that are not names of this machine.
   */
  @ParameterizedTest
  @CsvSource({
    "evil.example, 403",
    "evil.example:80, 403",
    "127.0.0.1.evil.example, 403",
    "localhost:9, 200",
    "127.0.0.1, 200",
    "[::1]:9, 200"
  })
  void rejectsForeignHostNames(String host, int code) throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket
          .getOutputStream()
          .write(
              "GET /status HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
                  .formatted(host)
                  .getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("HTTP/1.1 " + code);
    }
  }

  @Test
  void rejectsRequestsFromWebPages() throws Exception {
    assertThat(send("POST", "/pause", "Origin", "http://evil.example").statusCode()).isEqualTo(403);
    assertThat(pauses).hasValue(0);
  }

  @Test
  void reportsPortInUse() {
    String taken = Integer.toString(server.port());
    assertThatThrownBy(() -> new CopyServer(taken, () -> null, Map.of()))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("--serve " + taken + ": Address already in use");
  }

  @ParameterizedTest
  @CsvSource({"x", "99999", "-1", "h:"})
  void rejectsInvalidAddress(String address) {
    assertThatThrownBy(() -> new CopyServer(address, () -> null, Map.of()))
        .isInstanceOf(Failure.class)
        .hasMessage("--serve " + address + ": must be PORT or HOST:PORT");
  }

  @Test
  void closedServerRefusesConnections() {
    server.close();
    assertThatThrownBy(() -> send("GET", "/status")).isInstanceOf(ConnectException.class);
  }
}
