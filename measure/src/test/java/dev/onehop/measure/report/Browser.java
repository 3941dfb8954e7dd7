package dev.onehop.measure.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A headless Chromium with one page, over the DevTools protocol
 * (https://chromedevtools.github.io/devtools-protocol/).
 */
final class Browser {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern LISTENING = Pattern.compile("DevTools listening on (ws://\\S+)");
  private static final long TIMEOUT_SECONDS = 60;

  private final Process process;
  private final WebSocket socket;
  private final String session;
  private final AtomicInteger ids = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> calls = new ConcurrentHashMap<>();
  private final List<JsonNode> events = new CopyOnWriteArrayList<>();
  private volatile CompletableFuture<Void> loaded = new CompletableFuture<>();

  /** The browser's program, if one of its usual names is on the path. */
  static Optional<Path> program() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
        .flatMap(
            folder ->
                Stream.of("chromium", "chromium-browser", "google-chrome", "chrome")
                    .map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Starts the browser.
   *
   * @param profile an empty folder for its files
   */
  Browser(Path program, Path profile) throws Exception {
    process =
        new ProcessBuilder(
                program.toString(),
                "--headless=new",
                "--no-sandbox", // as root in CI
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--user-data-dir=" + profile,
                "--remote-debugging-port=0",
                "about:blank")
            .redirectErrorStream(true)
            .start();
    String address = address(process.inputReader());
    socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .buildAsync(URI.create(address), new Replies())
            .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    String target =
        call(null, "Target.createTarget", Map.of("url", "about:blank")).path("targetId").asText();
    session =
        call(null, "Target.attachToTarget", Map.of("targetId", target, "flatten", true))
            .path("sessionId")
            .asText();
    for (String domain : List.of("Page", "Runtime", "Log", "Network")) {
      call(domain + ".enable", Map.of());
    }
  }

  private static String address(BufferedReader output) throws IOException {
    StringBuilder said = new StringBuilder();
    String line;
    while ((line = output.readLine()) != null) {
      Matcher matcher = LISTENING.matcher(line);
      if (matcher.find()) {
        Thread drain = new Thread(() -> drain(output), "chromium-output");
        drain.setDaemon(true);
        drain.start();
        return matcher.group(1);
      }
      said.append(line).append('\n');
    }
    throw new IOException("the browser ended:\n" + said);
  }

  private static void drain(BufferedReader output) {
    try {
      while (output.readLine() != null) {
        // Reads all output; otherwise the browser would wait once the pipe is full.
      }
    } catch (IOException e) {
      // the browser has ended
    }
  }

  /** Loads a page at a screen width, without state of earlier pages. */
  void show(Path page, int width, boolean dark) throws Exception {
    call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", width < 600));
    call(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    events.clear();
    CompletableFuture<Void> shown = new CompletableFuture<>();
    loaded = shown;
    call("Page.navigate", Map.of("url", page.toUri().toString()));
    try {
      shown.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IOException(page + " was not loaded within " + TIMEOUT_SECONDS + " s", e);
    }
  }

  /** The value of a JavaScript expression as JSON. */
  JsonNode evaluate(String expression) throws Exception {
    JsonNode reply =
        call("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
    if (reply.has("exceptionDetails")) {
      throw new IllegalStateException(reply.path("exceptionDetails").toString());
    }
    return reply.path("result").path("value");
  }

  /** Moves the pointer onto the first element of a CSS selector. */
  void point(String selector) throws Exception {
    JsonNode at =
        evaluate(
            "(() => {const e = document.querySelector('%s'); e.scrollIntoView({block: 'center'});"
                    .formatted(selector)
                + " const b = e.getBoundingClientRect();"
                + " return {x: b.x + b.width / 2, y: b.y + b.height / 2};})()");
    call(
        "Input.dispatchMouseEvent",
        Map.of("type", "mouseMoved", "x", at.path("x"), "y", at.path("y")));
  }

  /** Displays the page as on paper of this width. */
  void print(int width) throws Exception {
    call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
    call("Emulation.setEmulatedMedia", Map.of("media", "print"));
  }

  /** The page on sheets of A4, as a PDF. */
  void pdf(Path file) throws Exception {
    JsonNode reply =
        call(
            "Page.printToPDF",
            Map.of("paperWidth", 8.27, "paperHeight", 11.69, "preferCSSPageSize", true));
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(reply.path("data").asText()));
  }

  /** A screenshot of the whole page, as a PNG. */
  void screenshot(Path file) throws Exception {
    JsonNode reply = call("Page.captureScreenshot", Map.of("captureBeyondViewport", true));
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(reply.path("data").asText()));
  }

  /** The messages of the console. */
  List<String> complaints() {
    return Stream.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        .flatMap(name -> events(name).stream())
        .map(JsonNode::toString)
        .toList();
  }

  /** The addresses that the page has requested. */
  List<String> requests() {
    return events("Network.requestWillBeSent").stream()
        .map(event -> event.path("request").path("url").asText())
        .toList();
  }

  private List<JsonNode> events(String method) {
    return events.stream()
        .filter(event -> event.path("method").asText().equals(method))
        .map(event -> event.path("params"))
        .toList();
  }

  private JsonNode call(String method, Map<String, ?> parameters) throws Exception {
    return call(session, method, parameters);
  }

  private JsonNode call(@Nullable String inSession, String method, Map<String, ?> parameters)
      throws Exception {
    int id = ids.incrementAndGet();
    ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
    message.set("params", JSON.valueToTree(parameters));
    if (inSession != null) {
      message.put("sessionId", inSession);
    }
    CompletableFuture<JsonNode> reply = new CompletableFuture<>();
    calls.put(id, reply);
    socket.sendText(message.toString(), true).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    return reply.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  void close() throws InterruptedException {
    // The browser ends by this command, so that it removes its files.
    socket.sendText("{\"id\":0,\"method\":\"Browser.close\"}", true);
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    socket.abort();
  }

  private final class Replies implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        try {
          take(JSON.readTree(text.toString()));
        } catch (IOException e) {
          calls.values().forEach(call -> call.completeExceptionally(e));
        }
        text.setLength(0);
      }
      from.request(1);
      return null;
    }

    private void take(JsonNode message) {
      CompletableFuture<JsonNode> call = calls.remove(message.path("id").asInt());
      if (call == null) {
        events.add(message);
        if (message.path("method").asText().equals("Page.loadEventFired")) {
          loaded.complete(null);
        }
      } else if (message.has("error")) {
        call.completeExceptionally(new IOException(message.path("error").toString()));
      } else {
        call.complete(message.path("result"));
      }
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      calls.values().forEach(call -> call.completeExceptionally(error));
    }
  }
}
