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
      JsonNode unused = send(path, HttpRequest.newBuilder().GET());
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
    return checked(path, HttpRequest.newBuilder().GET());
  }

  /**
   * Sends a POST.
   *
   * @param body the body, as JSON
   * @throws Failure if the program does not accept it
   */
  void command(String path, String body) {
    JsonNode unused = checked(path, post(body));
  }

  /** Sends a POST that the program may refuse. Returns whether it was accepted. */
  boolean tryCommand(String path, String body) {
    try {
      return send(path, post(body)).path(success).asBoolean();
    } catch (IOException e) {
      throw failed(path, Failure.reason(e));
    }
  }

  /** Returns a failure with the program's reason. */
  Failure failed(String path, String reason) {
    return Failure.run("%s failed at %s: %s".formatted(program.name(), path, reason));
  }

  private static HttpRequest.Builder post(String body) {
    return HttpRequest.newBuilder()
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(body));
  }

  private JsonNode checked(String path, HttpRequest.Builder request) {
    try {
      JsonNode answer = send(path, request);
      if (!answer.path(success).asBoolean(true)) {
        throw failed(path, answer.path(error).asText());
      }
      return answer;
    } catch (IOException e) {
      throw failed(path, Failure.reason(e));
    }
  }

  private JsonNode send(String path, HttpRequest.Builder request) throws IOException {
    URI uri = URI.create("http://localhost:" + program.port() + path);
    try {
      return JSON.readTree(
          CLIENT.send(request.uri(uri).timeout(TIMEOUT).build(), BodyHandlers.ofString()).body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.interrupted();
    }
  }
}
