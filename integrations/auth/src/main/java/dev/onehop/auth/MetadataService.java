package dev.onehop.auth;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The metadata service of a cloud. Only the cloud's machines can reach it, over HTTP. A request may
 * block.
 */
@FunctionalInterface
interface MetadataService {
  /**
   * Sends a request.
   *
   * @return the body of a reply with status 200
   * @throws IOException if the reply has another status, or no reply comes
   */
  String request(String method, String url, Map<String, String> headers) throws IOException;

  /** The metadata service of this machine. */
  MetadataService HTTP = MetadataService::overHttp;

  private static String overHttp(String method, String url, Map<String, String> headers)
      throws IOException {
    HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
    try {
      connection.setConnectTimeout(10_000);
      connection.setReadTimeout(10_000);
      connection.setRequestMethod(method);
      headers.forEach(connection::setRequestProperty);
      int status = connection.getResponseCode();
      if (status != HttpURLConnection.HTTP_OK) {
        throw new IOException(url + " returned status " + status);
      }
      try (InputStream body = connection.getInputStream()) {
        return new String(body.readAllBytes(), StandardCharsets.UTF_8);
      }
    } finally {
      connection.disconnect();
    }
  }
}
