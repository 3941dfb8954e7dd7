package dev.onehop.cli;

import com.mongodb.MongoException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves the state of a copy over HTTP, and takes requests to pause, continue and finish the copy.
 * It refuses requests for another host name, and requests of web pages to change the copy.
 * Thread-safe.
 */
final class CopyServer implements AutoCloseable {
  private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";
  private static final String JSON = "application/json";

  /** Changes a job. */
  @FunctionalInterface
  interface Change {
    /** Sends the request to the job. Throws a CopyException if there is no such job yet. */
    void run() throws InterruptedException;
  }

  private final Supplier<CopyProgress> progress;
  private final Map<String, Change> changes;
  private final String host;
  private final HttpServer server;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          2,
          task -> {
            Thread thread = new Thread(task, "onehop-copy-http");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * Starts to listen.
   *
   * @param address {@code PORT} of the loopback address, or {@code HOST:PORT}; port 0 chooses a
   *     free one
   * @param changes the requests that users can send, such as pause. The keys are the paths of the
   *     HTTP requests
   * @throws Failure if the address is invalid, or in use
   */
  CopyServer(String address, Supplier<CopyProgress> progress, Map<String, Change> changes) {
    this.progress = progress;
    this.changes = Map.copyOf(changes);
    int colon = address.lastIndexOf(':');
    this.host = colon < 0 ? "" : address.substring(0, colon);
    try {
      int port = Integer.parseInt(address.substring(colon + 1));
      this.server =
          HttpServer.create(
              host.isEmpty()
                  ? new InetSocketAddress(InetAddress.getLoopbackAddress(), port)
                  : new InetSocketAddress(host, port),
              0);
    } catch (IllegalArgumentException e) {
      throw Failure.usage("--serve " + address + ": must be PORT or HOST:PORT");
    } catch (IOException e) {
      throw Failure.run("--serve %s: %s".formatted(address, Failure.firstLine(e)), e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      Change change = changes.get(path);
      String wanted = change == null ? "GET" : "POST";
      if (!isOwn(exchange.getRequestHeaders().getFirst("Host"))) {
        answer(exchange, 403, TEXT, "this server refuses the host name of the request\n");
      } else if (wanted.equals("GET") && !path.equals("/status") && !path.equals("/metrics")) {
        answer(exchange, 404, TEXT, "GET /status, GET /metrics, POST /pause, /continue, /finish\n");
      } else if (!exchange.getRequestMethod().equals(wanted)) {
        exchange.getResponseHeaders().set("Allow", wanted);
        answer(exchange, 405, TEXT, wanted + " only\n");
      } else if (change != null) {
        change(exchange, path, change);
      } else if (path.equals("/status")) {
        answer(exchange, 200, JSON, CopyReport.json(progress.get()) + "\n");
      } else {
        answer(exchange, 200, TEXT, CopyMetrics.of(progress.get()));
      }
    }
  }

  private void change(HttpExchange exchange, String path, Change change) throws IOException {
    if (exchange.getRequestHeaders().containsKey("Origin")) {
      answer(exchange, 403, TEXT, "a web page may not change a copy\n");
      return;
    }
    try {
      change.run();
      answer(exchange, 202, JSON, "{\"accepted\": \"%s\"}\n".formatted(path.substring(1)));
    } catch (CopyException | MongoException | IllegalStateException e) {
      answer(exchange, 503, TEXT, Failure.firstLine(e) + "\n");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Whether the header {@code Host} has an address or a name of this machine. Requests with other
   * names are refused. Otherwise a web page could get access, because its DNS server can resolve
   * the page's host name to this machine.
   */
  private boolean isOwn(@Nullable String header) {
    String name = header == null ? "" : header.replaceFirst(":\\d+$", "").toLowerCase(Locale.ROOT);
    return name.equals("localhost")
        || name.equals(host.toLowerCase(Locale.ROOT))
        || name.matches("[\\d.]+|\\[[\\p{XDigit}:.]+]");
  }

  private static void answer(HttpExchange exchange, int code, String type, String body)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    // The JDK's server logs a warning if the reply to a HEAD has a length.
    boolean head = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(code, head ? -1 : bytes.length);
    if (!head) {
      exchange.getResponseBody().write(bytes);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
