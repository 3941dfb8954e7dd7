package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.MongoTimeoutException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

class SharedStoreTest {
  private final InMemoryStore store = new InMemoryStore();
  private final AtomicInteger opened = new AtomicInteger();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private String mode = "";

  @BeforeEach
  void nameMode(TestInfo test) {
    mode = test.getDisplayName(); // stores are shared in the whole process
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  @Test
  void lastThreadClosesSharedClient() {
    SharedStore first = acquire(options());
    SharedStore second = acquire(options());

    assertThat(second.store()).isSameAs(first.store());
    assertThat(opened).hasValue(1);
    assertThat(store.pings).hasValue(1);

    first.release(new Tally());
    assertThat(store.closes).hasValue(0);
    second.release(new Tally());
    assertThat(store.closes).hasValue(1);
  }

  @Test
  void opensAgainAfterLastThread() {
    acquire(options()).release(new Tally());
    acquire(options()).release(new Tally());

    assertThat(opened).hasValue(2);
    assertThat(store.closes).hasValue(2);
  }

  @Test
  void closesClientThatDoesNotReply() {
    store.failure = new MongoTimeoutException("no server");

    assertThatThrownBy(() -> acquire(options())).isSameAs(store.failure);
    assertThat(store.closes).hasValue(1);
  }

  @Test
  void nextThreadRetriesAfterFailure() {
    store.failure = new MongoTimeoutException("no server");
    assertThatThrownBy(() -> acquire(options())).isSameAs(store.failure);
    store.failure = null;

    SharedStore shared = acquire(options());

    assertThat(shared.store()).isSameAs(store);
    shared.release(new Tally());
    assertThat(store.closes).hasValue(2);
  }

  @Test
  void waitingThreadsShareFailure() throws Exception {
    MongoTimeoutException failure = new MongoTimeoutException("no server");
    CountDownLatch opening = new CountDownLatch(1);
    CountDownLatch fail = new CountDownLatch(1);
    Callable<Throwable> thread =
        () ->
            catchThrowable(
                () ->
                    SharedStore.acquire(
                        mode,
                        options(),
                        () -> {
                          opened.incrementAndGet();
                          opening.countDown();
                          awaitQuietly(fail);
                          throw failure;
                        }));
    List<Future<Throwable>> waiting = new ArrayList<>();
    waiting.add(threads.submit(thread));
    opening.await();
    List<Thread> waiters = new ArrayList<>();
    CountDownLatch started = new CountDownLatch(3);
    for (int i = 0; i < 3; i++) {
      waiting.add(
          threads.submit(
              () -> {
                synchronized (waiters) {
                  waiters.add(Thread.currentThread());
                }
                started.countDown();
                return thread.call();
              }));
    }
    started.await();
    for (Thread waiter : waiters) {
      while (waiter.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
    }
    fail.countDown();

    for (Future<Throwable> one : waiting) {
      assertThat(one.get()).isSameAs(failure);
    }
    assertThat(opened).hasValue(1);
  }

  @Test
  void lastThreadWritesSummary(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("summary.json");
    BindingOptions options = options("onehop.summary", file.toString());
    SharedStore first = acquire(options);
    SharedStore second = acquire(options);
    first.release(tally(3));
    assertThat(file).doesNotExist();

    second.release(tally(4));

    BsonDocument json = BsonDocument.parse(Files.readString(file));
    assertThat(json.getString("mode").getValue()).isEqualTo(mode);
    assertThat(json.getNumber("operations").intValue()).isEqualTo(7);
    assertThat(json.getDocument("routes").getNumber("owner").intValue()).isEqualTo(3);
  }

  @Test
  void summaryIncludesEarlierThreads(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("summary.json");
    BindingOptions options = options("onehop.summary", file.toString());

    acquire(options).release(tally(3));
    acquire(options).release(tally(4));

    assertThat(BsonDocument.parse(Files.readString(file)).getNumber("operations").intValue())
        .isEqualTo(7);
  }

  @Test
  void closesClientIfSummaryCannotBeWritten(@TempDir Path folder) throws Exception {
    Path inTheWay = Files.createFile(folder.resolve("file"));
    SharedStore shared =
        acquire(options("onehop.summary", inTheWay.resolve("summary.json").toString()));

    assertThatThrownBy(() -> shared.release(new Tally())).isInstanceOf(UncheckedIOException.class);
    assertThat(store.closes).hasValue(1);
  }

  @Test
  void threadsShareWarmupDeadline() {
    BindingOptions options = options("onehop.warmup", "60000");
    SharedStore first = acquire(options);
    SharedStore second = acquire(options);

    assertThat(second.warmup()).isSameAs(first.warmup());
    assertThat(first.warmup().endNanos() - System.nanoTime()).isBetween(1L, 60_000_000_000L);
    first.release(new Tally());
    second.release(new Tally());
  }

  private SharedStore acquire(BindingOptions options) {
    return SharedStore.acquire(
        mode,
        options,
        () -> {
          opened.incrementAndGet();
          return store;
        });
  }

  private static Tally tally(int operations) {
    Tally tally = new Tally();
    for (int i = 0; i < operations; i++) {
      tally.operation(i, i + 1, true);
    }
    return tally;
  }

  private static BindingOptions options(String... namesAndValues) {
    Properties properties = new Properties();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
    }
    return BindingOptions.of(properties);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
