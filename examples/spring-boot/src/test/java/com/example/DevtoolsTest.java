package com.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.devtools.restart.Restarter;

/** During development, devtools restarts the application after a change of a class. */
@ShardedCluster
class DevtoolsTest {
  private static final String[] URIS = {"spring.mongodb.uri", "spring.data.mongodb.uri"};

  @AfterEach
  void forget() {
    for (String uri : URIS) {
      System.clearProperty(uri);
    }
    System.clearProperty("server.port");
  }

  /** The threads of routers and of the driver. */
  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().matches("(onehop|cluster)-.*"))
        .collect(Collectors.toSet());
  }

  @Test
  void leavesNothingBehind(SharedCluster cluster) throws InterruptedException {
    for (String uri : URIS) {
      System.setProperty(uri, cluster.url() + "/" + cluster.database());
    }
    System.setProperty("server.port", "0");
    Set<Thread> others = threads();
    // Devtools restarts only an application that a thread with this name has started.
    Thread main = new Thread(() -> OrdersApplication.main(new String[0]), "main");
    main.start();
    main.join();
    Set<Thread> before = threads();
    before.removeAll(others);
    assertThat(before).isNotEmpty();

    Restarter.getInstance().restart();
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(before).noneMatch(Thread::isAlive);
              assertThat(threads()).hasSizeGreaterThan(others.size());
            });
  }
}
