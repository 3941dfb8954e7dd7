package dev.onehop.copy.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoException;
import com.mongodb.MongoTimeoutException;
import dev.onehop.wire.message.CommandFailure;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

class WaitsTest {
  private static CommandFailure refusal(int code) {
    return new CommandFailure(code, "", "scripted", List.of());
  }

  @ParameterizedTest
  @ValueSource(ints = {6, 89, 91, 189, 10107, 11600, 13436})
  void replacedServerIsTransient(int code) {
    assertThat(Waits.isPassing(refusal(code))).isTrue();
    assertThat(Waits.isPassing(new MongoException(code, ""))).isTrue();
    assertThat(Waits.isPassing(new IllegalStateException(refusal(code)))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {13, 18, 26, 72, 121, 225, 11000})
  void rejectionIsNotTransient(int code) {
    assertThat(Waits.isPassing(refusal(code))).isFalse();
    assertThat(Waits.isPassing(new MongoException(code, ""))).isFalse();
  }

  @Test
  void unavailableServerIsTransient() {
    assertThat(Waits.isPassing(new IOException())).isTrue();
    assertThat(Waits.isPassing(new MongoTimeoutException("no server"))).isTrue();
    assertThat(Waits.isPassing(new IllegalStateException())).isFalse();
  }

  @Test
  void retriesTransientFailuresAndThrowsOthers() throws InterruptedException {
    AtomicInteger tries = new AtomicInteger();
    assertThat(
            Waits.persistently(
                "it",
                () -> {
                  if (tries.incrementAndGet() < 3) {
                    throw refusal(189);
                  }
                  return "done";
                }))
        .isEqualTo("done");
    assertThat(tries).hasValue(3);
    assertThatThrownBy(
            () ->
                Waits.persistently(
                    "it",
                    () -> {
                      tries.incrementAndGet();
                      throw refusal(13);
                    }))
        .isInstanceOf(CommandFailure.class);
    assertThat(tries).hasValue(4);
  }

  @Test
  void interruptionCancelsWait() {
    AtomicBoolean cancelled = new AtomicBoolean();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> Waits.one(Mono.never().doOnCancel(() -> cancelled.set(true))))
        .isInstanceOf(InterruptedException.class);
    assertThat(cancelled).isTrue();
  }

  @Test
  void reasonIsOneLine() {
    assertThat(Waits.reason(new IOException("first \nsecond"))).isEqualTo("first");
    assertThat(Waits.reason(new IOException(" "))).isEqualTo("IOException");
    assertThat(Waits.reason(new IOException())).isEqualTo("IOException");
  }
}
