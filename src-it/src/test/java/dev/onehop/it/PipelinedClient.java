package dev.onehop.it;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.transport.PipelinedTransport;
import dev.onehop.routing.transport.PipeliningMeters;
import dev.onehop.routing.transport.PipeliningSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.function.Consumer;

/** The plain official reactive client on a pipelined transport. */
final class PipelinedClient implements AutoCloseable {
  static final int SOCKETS = 5;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final PipelinedTransport transport;
  private final MongoClient client;

  PipelinedClient(String url) {
    this(url, settings -> {});
  }

  PipelinedClient(String url, Consumer<MongoClientSettings.Builder> change) {
    transport =
        PipelinedTransport.create(
            PipeliningSettings.builder().socketsPerServer(SOCKETS).maxInFlightPerSocket(64).build(),
            meters);
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(url));
    transport.applyTo(settings);
    change.accept(settings);
    client = MongoClients.create(settings.build());
  }

  MongoClient client() {
    return client;
  }

  /** The sum of a gauge over all servers, for meters with that tag. */
  double gauge(PipeliningMeters meter, String tag, String value) {
    return meters.find(meter.meterName()).tag(tag, value).gauges().stream()
        .mapToDouble(gauge -> gauge.value())
        .sum();
  }

  double sharedSockets() {
    return gauge(PipeliningMeters.SOCKETS, "use", "shared");
  }

  double lanes() {
    return meters.find(PipeliningMeters.LANES.meterName()).gauges().stream()
        .mapToDouble(gauge -> gauge.value())
        .sum();
  }

  double requests(String use) {
    return meters.find(PipeliningMeters.REQUESTS.meterName()).tag("use", use).counters().stream()
        .mapToDouble(counter -> counter.count())
        .sum();
  }

  @Override
  public void close() {
    client.close();
    transport.close();
  }
}
