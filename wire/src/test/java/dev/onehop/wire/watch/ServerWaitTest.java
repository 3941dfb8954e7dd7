package dev.onehop.wire.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ServerWaitTest {
  private final AtomicReference<String> server = new AtomicReference<>();
  private final AtomicInteger checks = new AtomicInteger();
  private final AtomicInteger choices = new AtomicInteger();

  @Test
  void returnsAvailableServerAtOnce() {
    server.set("a");

    assertThat(until(new ServerWait(Duration.ofSeconds(30)))).isCompletedWithValue("a");
    assertThat(checks).hasValue(0);
  }

  @Test
  void noticesChangeBeforeNextCheck() {
    ServerWait wait = new ServerWait(Duration.ofSeconds(30));
    CompletableFuture<String> chosen = until(wait);
    await().until(() -> choices.get() >= 2);
    int before = checks.get();
    server.set("a");
    wait.changed();

    assertThat(chosen).succeedsWithin(Duration.ofSeconds(30)).isEqualTo("a");
    assertThat(checks.get()).isLessThanOrEqualTo(before + 1);
  }

  @Test
  void checksServersWhileWaiting() {
    CompletableFuture<String> chosen = until(new ServerWait(Duration.ofSeconds(-1)));
    await().untilAsserted(() -> assertThat(checks).hasValueGreaterThan(1));
    assertThat(chosen).isNotDone();
    server.set("a");

    assertThat(chosen).succeedsWithin(Duration.ofSeconds(30)).isEqualTo("a");
    int then = checks.get();
    await()
        .during(Duration.ofMillis(1_200))
        .untilAsserted(() -> assertThat(checks.get()).isLessThanOrEqualTo(then + 1));
  }

  @Test
  void failsAfterTimeout() {
    CompletableFuture<String> chosen = until(new ServerWait(Duration.ofMillis(50)));

    assertThatThrownBy(() -> chosen.get(30, TimeUnit.SECONDS)).hasRootCauseMessage("none");
  }

  @Test
  void choosesOneOfNearestServers() {
    List<ServerDescription> servers = List.of(at("a", 10), at("b", 24), at("c", 26), at("d", 90));
    Set<String> chosen = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      chosen.add(host(ServerWait.choose(servers, TimeUnit.MILLISECONDS.toNanos(15))));
    }

    assertThat(chosen).containsExactlyInAnyOrder("a", "b");
    assertThat(ServerWait.choose(List.of(), 1)).isNull();
  }

  private CompletableFuture<String> until(ServerWait wait) {
    return wait.<String>until(
            () -> {
              choices.incrementAndGet();
              return server.get();
            },
            checks::incrementAndGet,
            () -> new IllegalStateException("none"))
        .toFuture();
  }

  private static String host(ServerDescription server) {
    return server.getAddress().getHost();
  }

  private static ServerDescription at(String host, long millis) {
    return ServerDescription.builder()
        .address(new ServerAddress(host))
        .state(ServerConnectionState.CONNECTED)
        .ok(true)
        .roundTripTime(millis, TimeUnit.MILLISECONDS)
        .build();
  }
}
