package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

class CommonStartTest {
  private final InMemoryStore store = new InMemoryStore();

  private CommonStart client(int index, int of, String run) {
    return client(store, index, of, run);
  }

  private static CommonStart client(DocumentStore store, int index, int of, String run) {
    return new CommonStart(
        store, new ClientShare(index, of, run), Duration.ofMillis(of == 9 ? 300 : 30_000));
  }

  private DocumentStore counting(CountDownLatch polls) {
    return new Delegating(store) {
      @Override
      public Mono<List<BsonDocument>> findOrdered(
          String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
        polls.countDown();
        return super.findOrdered(collection, filter, projection, limit);
      }
    };
  }

  @Test
  void clientsStartTogetherAndLeaveNoDocuments() throws Exception {
    CountDownLatch polls = new CountDownLatch(4);
    CommonStart first = client(counting(polls), 0, 2, "run");
    CommonStart last = client(1, 2, "run");
    // The document of another run, whose name begins with the same characters.
    CompletableFuture<Void> others = CompletableFuture.runAsync(client(0, 2, "run-2")::await);
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(first::await);
    assertThat(polls.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(waiting).isNotDone();

    last.await();
    waiting.get(5, TimeUnit.SECONDS);

    assertThat(others).isNotDone();
    assertThat(Math.abs(first.client().startedAtMillis() - last.client().startedAtMillis()))
        .isLessThan(2_000);
    assertThat(last.client().index()).isEqualTo(1);
    first.leave();
    last.leave();
    assertThat(store.of(CommonStart.COLLECTION).keySet()).containsExactly("run-2#00000");
    client(1, 2, "run-2").await();
    others.get(5, TimeUnit.SECONDS);
  }

  @Test
  void reportsMissingClients() {
    assertThatThrownBy(client(0, 9, "run")::await)
        .hasMessage("only 1 of 9 clients were ready within 0 s");
  }

  @ParameterizedTest
  @CsvSource({
    "onehop.client=2 onehop.clients=2 onehop.start=r, 'onehop.client must be from 0 to 1, not 2'",
    "onehop.client=-1 onehop.clients=2 onehop.start=r,"
        + " 'onehop.client must be a whole number from 0 to 2147483647, not \"-1\"'",
    "onehop.client=0, 'onehop.client, onehop.clients and onehop.start must be given together'"
  })
  void rejectsInvalidShare(String given, String message) {
    Properties properties = new Properties();
    for (String pair : given.split(" ", -1)) {
      properties.setProperty(pair.split("=", -1)[0], pair.split("=", -1)[1]);
    }

    assertThatThrownBy(() -> ClientShare.of(properties))
        .isInstanceOf(InvalidPropertyException.class)
        .hasMessage(message);
  }
}
