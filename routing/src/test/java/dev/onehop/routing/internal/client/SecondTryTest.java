package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.affinity.ShardClients;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

/** What becomes of an operation of which nothing was sent. There is no cluster, so no route. */
class SecondTryTest {
  private final IOException unsent = new IOException("nothing was sent");

  private final MongoClientSettings settings =
      MongoClientSettings.builder()
          .applyConnectionString(new ConnectionString("mongodb://127.0.0.1:2"))
          .build();
  private final ShardClients clients =
      new ShardClients(
          settings,
          new ClusterPin(router -> Mono.never(), settings.getClusterSettings().getHosts()),
          MongoClients::create);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final OperationRouter router =
      new OperationRouter(
          clients.nearest(),
          true,
          new RoutingCatalog(
              (collection, filter, sort) -> Mono.error(new IOException("no cluster")),
              RoutingCatalog.RefreshListener.NONE),
          clients,
          new RoutingMetrics(meters),
          new Observations(ObservationRegistry.NOOP),
          Mono.empty());
  private final Queue<Publisher<String>> tries = new ArrayDeque<>();

  @AfterEach
  void close() {
    clients.close();
  }

  @Test
  void isTriedOnceMoreAndCountedOnce() {
    tries.add(Mono.error(unsent));
    tries.add(Mono.just("written"));

    StepVerifier.create(operation()).expectNext("written").verifyComplete();

    assertThat(tries).isEmpty();
    assertThat(count("ok")).isEqualTo(1);
    assertThat(count("failed")).isZero();
  }

  @Test
  void butNotTwice() {
    tries.add(Mono.error(unsent));
    tries.add(Mono.error(unsent));
    tries.add(Mono.just("never"));

    StepVerifier.create(operation())
        .verifyErrorSatisfies(failure -> assertThat(failure).isSameAs(unsent));

    assertThat(tries).hasSize(1);
    assertThat(count("failed")).isEqualTo(1);
  }

  @Test
  void whatMayHaveBeenSentIsNot() {
    tries.add(Mono.error(new IllegalStateException("it may have been sent")));
    tries.add(Mono.just("never"));

    StepVerifier.create(operation()).verifyError(IllegalStateException.class);

    assertThat(tries).hasSize(1);
  }

  @Test
  void demandBeforeAndAfterTheSecondTryReachesIt() {
    TestPublisher<String> first = TestPublisher.create();
    TestPublisher<String> second = TestPublisher.create();
    tries.add(first);
    tries.add(second);

    StepVerifier.create(operation(), 0)
        .then(() -> first.error(unsent))
        .then(second::assertWasNotRequested)
        .thenRequest(1)
        .then(second::assertWasRequested)
        .then(() -> second.next("written").complete())
        .expectNext("written")
        .verifyComplete();

    tries.add(Mono.error(unsent));
    TestPublisher<String> again = TestPublisher.create();
    tries.add(again);
    StepVerifier.create(operation())
        .then(again::assertWasRequested)
        .then(() -> again.next("written").complete())
        .expectNext("written")
        .verifyComplete();
  }

  @Test
  void aCancellationStopsTheSecondTry() {
    TestPublisher<String> second = TestPublisher.create();
    tries.add(Mono.error(unsent));
    tries.add(second);

    StepVerifier.create(operation()).then(second::assertWasSubscribed).thenCancel().verify();

    second.assertCancelled();
    assertThat(count("cancelled")).isEqualTo(1);
  }

  private long count(String outcome) {
    return meters.find("onehop.operations").tag("outcome", outcome).timers().stream()
        .mapToLong(timer -> timer.count())
        .sum();
  }

  private Mono<String> operation() {
    return router.routeOne(
        new Routable<>() {
          @Override
          public String namespace() {
            return "test.documents";
          }

          @Override
          public String operation() {
            return "updateOne";
          }

          @Override
          public Target target(RoutingTable table) {
            throw new AssertionError("there is no table");
          }

          @Override
          public Publisher<String> on(Route route) {
            return tries.remove();
          }

          @Override
          public boolean isUnsent(Throwable failure) {
            return failure == unsent;
          }
        });
  }
}
