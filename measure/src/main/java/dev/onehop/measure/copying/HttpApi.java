package dev.onehop.measure.copying;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Sends commands to a {@link Program} on this machine, as JSON over HTTP. Thread-safe.
 *
 * @param success the field of replies that is false if a command failed
 * @param error the field of replies that has the reason of a failure
 */
record HttpApi(Program program, String success, String error) {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  /** Whether the program replies to a GET. */
  boolean answers(String path) {
    try {
      JsonNode unused = send(path, null);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Returns the reply to a GET.
   *
   * @throws Failure if no reply comes, or the program reports a failure
   */
  JsonNode status(String path) {
    return checked(path, null);
  }

  /**
   * Sends a POST.
   *
   * @param body the body, as JSON
   * @throws Failure if the program does not accept it
   */
  void command(String path, String body) {
    JsonNode unused = checked(path, body);
  }

  /** Sends a POST that the program may refuse. Returns whether it was accepted. */
  boolean tryCommand(String path, String body) {
    return reply(path, body).path(success).asBoolean();
  }

  /** Returns a failure with the program's reason. */
  Failure failed(String path, String reason) {
    return Failure.run("%s failed at %s: %s".formatted(program.name(), path, reason));
  }

  private JsonNode checked(String path, @Nullable String body) {
    JsonNode reply = reply(path, body);
    if (!reply.path(success).asBoolean(true)) {
      throw failed(path, reply.path(error).asText());
    }
    return reply;
  }

  private JsonNode reply(String path, @Nullable String body) {
    try {
      return send(path, body);
    } catch (IOException e) {
      throw failed(path, Failure.reason(e));
    }
  }

  /** Sends a POST, or a GET if there is no body. */
  private JsonNode send(String path, @Nullable String body) throws IOException {
    URI uri = URI.create("http://localhost:" + program.port() + path);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(TIMEOUT);
    if (body != null) {
      request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(body));
    }
    try {
      return JSON.readTree(CLIENT.send(request.build(), BodyHandlers.ofString()).body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.interrupted();
    }
  }
}
