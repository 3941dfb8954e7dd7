package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.connection.SimulatedLinks.Request;
import dev.onehop.wire.connection.SimulatedLinks.SimulatedLink;
import dev.onehop.wire.message.PoolWaitException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random interleavings of requests, replies, cancellations, broken connections and time. Each
 * request receives its own reply, or a failure if its own connection broke.
 */
class SharedConnectionsPropertyTest {
  private static final int RUNS = 500;
  private static final int STEPS = 500;
  private static final int CONNECTIONS = 3;
  private static final int DEPTH = 4;
  private static final int REAUTHENTICATION_REQUIRED = 391;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void everyRequestGetsItsReplyOrFails(boolean authenticates) {
    for (long seed = 1; seed <= RUNS; seed++) {
      try {
        new Run(new Random(seed), authenticates).play();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static final class Run {
    private final Random random;
    private final boolean authenticates;
    private final SimulatedLinks links = new SimulatedLinks(CONNECTIONS, DEPTH);
    private final List<Request> requests = new ArrayList<>();
    private boolean interrupted;

    Run(Random random, boolean authenticates) {
      this.random = random;
      this.authenticates = authenticates;
      if (authenticates) {
        links.authenticate();
      }
      links.roomForOwn(random.nextInt(4));
    }

    void play() {
      for (int step = 0; step < STEPS; step++) {
        // Time passes while the code runs, too.
        links.now += random.nextInt(1_000_000);
        step();
        assertBounds();
      }
      settle();
      for (Request request : requests) {
        assertThat(request.isPending()).as("%s", request).isFalse();
        if (request.answer != null) {
          request.assertAnswered();
        }
      }
      links.close();
      // A gauge whose connections were garbage-collected is NaN.
      assertThat(serving()).isIn(0.0, Double.NaN);
    }

    /** The number of connections that serve requests. */
    private double serving() {
      return links.meter(SharingMeters.SOCKETS, "use", "shared");
    }

    private void step() {
      int dice = random.nextInt(100);
      if (dice < 40) {
        requests.add(
            links.send(List.of("find", "ping", "update", "insert").get(random.nextInt(4))));
      } else if (dice < 75) {
        answer();
      } else if (dice < 80) {
        open();
      } else if (dice < 85) {
        cancel();
      } else if (dice < 87) {
        breakOne();
      } else if (dice < 91) {
        SimulatedLink link = any();
        if (link != null) {
          link.writable(random.nextBoolean());
        }
      } else if (dice < 93 && !links.own.isEmpty()) {
        links.answerOwn();
      } else if (dice < 94) {
        links.clear(links.generation());
      } else if (random.nextInt(50) == 0) {
        interrupted = true;
        links.reset(new IOException("lost"));
      } else {
        // Sometimes the time is long enough to relieve requests that are stuck.
        links.advanceClock(
            Duration.ofMillis(random.nextInt(random.nextInt(10) == 0 ? 3_000 : 100)));
      }
    }

    private void open() {
      if (links.opening.isEmpty()) {
        return;
      }
      if (random.nextInt(10) == 0) {
        Set<Request> before = failed();
        boolean others = serving() > 0;
        links.refuseOldest();
        if (others) {
          assertThat(failed()).isEqualTo(before);
        }
      } else {
        links.opened();
      }
    }

    private List<SimulatedLink> openLinks() {
      return links.links.stream().filter(SimulatedLink::isOpen).toList();
    }

    private SimulatedLink any() {
      List<SimulatedLink> open = openLinks();
      return open.isEmpty() ? null : open.get(random.nextInt(open.size()));
    }

    private void answer() {
      SimulatedLink link = any();
      if (link == null || link.pending.isEmpty()) {
        return;
      }
      if (authenticates && random.nextInt(30) == 0) {
        link.answer(REAUTHENTICATION_REQUIRED);
      } else {
        link.answer();
      }
    }

    private void cancel() {
      List<Request> underWay = requests.stream().filter(Request::isPending).toList();
      if (!underWay.isEmpty()) {
        Set<Request> before = failed();
        assertThat(underWay.get(random.nextInt(underWay.size())).cancel()).isTrue();
        assertThat(failed())
            .as("requests that fail because another request is cancelled")
            .isEqualTo(before);
      }
    }

    private void breakOne() {
      SimulatedLink link = any();
      if (link == null) {
        return;
      }
      Set<String> on =
          link.pending.stream().map(SimulatedLink.Sent::tag).collect(Collectors.toSet());
      Set<Request> before = failed();
      link.abort(new IOException("cut"));
      Set<Request> now = failed();
      now.removeAll(before);
      assertThat(on).containsAll(now.stream().map(Request::toString).toList());
      assertThat(requests.stream().filter(r -> on.contains(r.toString())))
          .allMatch(r -> r.failure != null || r.cancelled);
    }

    private Set<Request> failed() {
      return requests.stream().filter(r -> r.failure != null).collect(Collectors.toSet());
    }

    private void settle() {
      for (int round = 0; round < 1_000; round++) {
        links.openAll();
        openLinks().forEach(link -> link.writable(true));
        links.answerAll();
        while (!links.own.isEmpty()) {
          links.answerOwn();
        }
        links.advanceClock(Duration.ofMillis(1));
        if (requests.stream().noneMatch(Request::isPending)) {
          return;
        }
      }
      throw new AssertionError("it does not come to rest");
    }

    private void assertBounds() {
      for (SimulatedLink link : openLinks()) {
        assertThat(link.pending.size()).isLessThanOrEqualTo(DEPTH);
      }
      assertThat(serving()).isLessThanOrEqualTo(CONNECTIONS);
      if (!interrupted) {
        assertThat(requests.stream().filter(r -> r.failure instanceof PoolWaitException)).isEmpty();
      }
    }
  }
}
