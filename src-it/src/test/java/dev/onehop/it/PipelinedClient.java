package dev.onehop.it;

import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.transport.PipeliningMeters;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.function.Consumer;

/** The official reactive client with pipelining and without routing. */
final class PipelinedClient implements AutoCloseable {
  static final int SOCKETS = 5;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final MongoClient client;

  PipelinedClient(String url) {
    this(url, settings -> {});
  }

  PipelinedClient(String url, Consumer<MongoClientSettings.Builder> change) {
    client =
        OneHop.builder(url)
            .applyToClientSettings(change)
            .routing(RoutingMode.NONE)
            .pipelining(sockets -> sockets.socketsPerServer(SOCKETS).maxInFlightPerSocket(64))
            .meterRegistry(meters)
            .client(MongoClient.class);
  }

  MongoClient client() {
    return client;
  }

  /** The sum of the gauges with this tag over all servers. */
  double gauge(PipeliningMeters meter, String tag, String value) {
    return meters.find(meter.meterName()).tag(tag, value).gauges().stream()
        .mapToDouble(gauge -> gauge.value())
        .sum();
  }

  double sharedSockets() {
    return gauge(PipeliningMeters.SOCKETS, "use", "shared");
  }

  double requests(String use) {
    return meters.find(PipeliningMeters.REQUESTS.meterName()).tag("use", use).counters().stream()
        .mapToDouble(counter -> counter.count())
        .sum();
  }

  @Override
  public void close() {
    client.close();
  }
}
