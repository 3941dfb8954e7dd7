package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.connection.WireServer.Client;
import dev.onehop.wire.connection.WireServer.Kind;
import dev.onehop.wire.connection.WireServer.Script;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Exceptions;

/** Every request ends with a reply or an error, even if its connection is closed. */
class ClosingConnectionsTest {
  private static final int THREADS = 8;
  private static final int REQUESTS = 600;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @ParameterizedTest
  @EnumSource
  void everyRequestEnds(Kind kind) throws Exception {
    AtomicInteger failed = new AtomicInteger();
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    command.containsKey("ping") && ThreadLocalRandom.current().nextInt(40) == 0
                        ? Script.HANG_UP
                        : WireServer.ok());
        Client pool = server.pool(kind, WireServer.unlimited())) {
      ExecutorService threads = Executors.newFixedThreadPool(THREADS);
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        all.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < REQUESTS; n++) {
                    if (n % 97 == 0) {
                      pool.reset(server.name(), n % 2 == 0, new IOException("planted"));
                    }
                    if (isBroken(server, pool)) {
                      failed.incrementAndGet();
                    }
                  }
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
      threads.shutdown();
    }
    assertThat(failed.get()).isPositive().isLessThan(THREADS * REQUESTS / 2);
  }

  private static boolean isBroken(WireServer server, Client pool) {
    try {
      pool.send(server.name(), WireServer.ping()).block(TIMEOUT);
      return false;
    } catch (RuntimeException e) {
      // The failure must not be a timeout.
      assertThat(Exceptions.unwrap(e)).isInstanceOf(IOException.class);
      return true;
    }
  }
}
