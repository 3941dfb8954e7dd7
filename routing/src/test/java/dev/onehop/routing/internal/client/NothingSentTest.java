package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoSocketException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.MongoSocketReadException;
import com.mongodb.ServerAddress;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.Updates;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class NothingSentTest {
  private static final ServerAddress SERVER = new ServerAddress();

  private final AtomicInteger tries = new AtomicInteger();

  @Test
  void handshakeThatFailedIsTriedOnceMore() {
    StepVerifier.create(write(true, true, WriteConcern.MAJORITY, read()))
        .expectNext("written")
        .verifyComplete();

    assertThat(tries).hasValue(2);
  }

  @Test
  void labelledErrorsMayHaveBeenSent() {
    MongoSocketException labelled = read();
    labelled.addLabel("RetryableWriteError");

    refused(true, true, WriteConcern.MAJORITY, labelled);
  }

  @Test
  void withoutRetryableWritesTheLabelSaysNothing() {
    refused(false, true, WriteConcern.MAJORITY, read());
    refused(true, false, WriteConcern.MAJORITY, read());
    refused(true, true, WriteConcern.UNACKNOWLEDGED, read());
  }

  @Test
  void withoutAConnectionNothingIsEverSent() {
    StepVerifier.create(write(false, false, WriteConcern.UNACKNOWLEDGED, open()))
        .expectNext("written")
        .verifyComplete();
  }

  @Test
  void onlyOnce() {
    Mono<String> write =
        new NothingSent(true)
            .again(
                true,
                WriteConcern.MAJORITY,
                () -> {
                  tries.incrementAndGet();
                  return Mono.<String>error(open());
                });

    StepVerifier.create(write).verifyError(MongoSocketOpenException.class);
    assertThat(tries).hasValue(2);
  }

  @Test
  void bulksOfSingleWritesOnly() {
    InsertOneModel<Document> insert = new InsertOneModel<>(new Document());

    assertThat(NothingSent.onlySingle(List.of(insert))).isTrue();
    assertThat(
            NothingSent.onlySingle(
                List.of(insert, new UpdateManyModel<>(new Document(), Updates.inc("n", 1)))))
        .isFalse();
  }

  private void refused(
      boolean retryWrites, boolean onlySingle, WriteConcern concern, MongoSocketException failure) {
    tries.set(0);
    StepVerifier.create(write(retryWrites, onlySingle, concern, failure))
        .verifyErrorSatisfies(error -> assertThat(error).isSameAs(failure));
    assertThat(tries).hasValue(1);
  }

  private Mono<String> write(
      boolean retryWrites, boolean onlySingle, WriteConcern concern, MongoSocketException failure) {
    return new NothingSent(retryWrites)
        .again(
            onlySingle,
            concern,
            () -> tries.incrementAndGet() == 1 ? Mono.error(failure) : Mono.just("written"));
  }

  private static MongoSocketException read() {
    return new MongoSocketReadException("closed", SERVER, new IOException());
  }

  private static MongoSocketException open() {
    return new MongoSocketOpenException("refused", SERVER, new IOException());
  }
}
