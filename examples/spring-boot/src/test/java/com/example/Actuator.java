package com.example;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import org.springframework.context.ApplicationContext;

/** The endpoints of the application under test. */
final class Actuator {
  private final HttpClient client = HttpClient.newHttpClient();
  private final String url;

  Actuator(ApplicationContext context) {
    this.url =
        "http://localhost:" + context.getEnvironment().getProperty("local.server.port") + "/actuator/";
  }

  String get(String path) {
    return body(HttpRequest.newBuilder(URI.create(url + path)).build());
  }

  String post(String path, String json) {
    return body(
        HttpRequest.newBuilder(URI.create(url + path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(json))
            .build());
  }

  private String body(HttpRequest request) {
    try {
      return client.send(request, BodyHandlers.ofString()).body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
