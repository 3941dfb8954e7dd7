package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.Affinity.Beside;
import dev.onehop.routing.internal.affinity.Affinity.Source;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import dev.onehop.routing.internal.wire.ServerAddressName;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What keeps a replaced client open, and how long. There is no cluster. */
class ReplacedClientInUseTest {
  private final MongoClientSettings settings =
      MongoClientSettings.builder()
          .applyConnectionString(new ConnectionString("mongodb://127.0.0.1:2"))
          .build();
  private final ShardClients clients =
      new ShardClients(
          settings,
          new ClusterPin(router -> Mono.never(), settings.getClusterSettings().getHosts()),
          MongoClients::create);
  private final OperationRouter router =
      new OperationRouter(
          clients.nearest(),
          true,
          new RoutingCatalog(
              (collection, filter, sort) -> Mono.error(new IOException("no cluster")),
              RoutingCatalog.RefreshListener.NONE),
          clients,
          new RoutingMetrics(new SimpleMeterRegistry()),
          new Observations(ObservationRegistry.NOOP),
          Mono.empty());
  private ShardClient client;

  private enum End {
    RESULT,
    FAILURE,
    CANCELLATION
  }

  @BeforeEach
  void connect() {
    var unused = clients.update(beside("127.0.0.8:2"));
    client = Objects.requireNonNull(clients.find("a"));
  }

  @AfterEach
  void close() {
    clients.close();
  }

  @ParameterizedTest
  @EnumSource
  void anOperationUntilItEnds(End end) {
    Sinks.One<String> reply = Sinks.one();
    Disposable running =
        router
            .part(
                "test.documents",
                "find",
                new Route(RouteDecision.OWNER, "a", client),
                reply.asMono())
            .onErrorComplete()
            .subscribe();
    MongoClient replaced = replace();

    assertStaysOpen(replaced);
    switch (end) {
      case RESULT -> reply.tryEmitValue("found").orThrow();
      case FAILURE -> reply.tryEmitError(new IOException("broken")).orThrow();
      case CANCELLATION -> running.dispose();
    }
    assertIsClosedLater(replaced);
  }

  @Test
  void aSessionUntilItIsClosed() {
    RoutedSession session =
        new RoutedSession(
            router, Objects.requireNonNull(Mono.from(clients.nearest().startSession()).block()));
    assertThat(session.place(client, null).block()).isNotNull();
    MongoClient replaced = replace();

    assertStaysOpen(replaced);
    session.close();
    session.close();
    assertIsClosedLater(replaced);
  }

  private MongoClient replace() {
    return clients.update(beside("127.0.0.9:2")).get(0);
  }

  private void assertStaysOpen(MongoClient replaced) {
    for (int i = 0; i < 3; i++) {
      assertThat(clients.end(replaced)).isFalse();
    }
  }

  /** The first time, it was used since the last one. */
  private void assertIsClosedLater(MongoClient replaced) {
    assertThat(clients.end(replaced)).isFalse();
    assertThat(clients.end(replaced)).isTrue();
  }

  private static Affinity beside(String router) {
    List<ServerAddressName> routers = List.of(ServerAddressName.parse(router));
    return new Affinity(routers, Map.of("a", new Beside(routers, Source.MAPPED)));
  }
}
