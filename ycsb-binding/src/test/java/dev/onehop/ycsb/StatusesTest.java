package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoSocketOpenException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.MongoWriteException;
import com.mongodb.ServerAddress;
import com.mongodb.WriteError;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteResult;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaximumSizeExceededException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import site.ycsb.Status;

class StatusesTest {
  private static final ServerAddress SERVER = new ServerAddress("h", 1);

  @ParameterizedTest
  @MethodSource
  void clusterFailuresAreUnavailable(RuntimeException failure) {
    assertThat(Statuses.of(failure)).isSameAs(Status.SERVICE_UNAVAILABLE);
  }

  static Stream<RuntimeException> clusterFailuresAreUnavailable() {
    return Stream.of(
        new MongoTimeoutException("no server, or no connection from the pool"),
        new MongoSocketOpenException("refused", SERVER),
        new MongoExecutionTimeoutException(50, "too slow", new BsonDocument()),
        new MongoNotPrimaryException(new BsonDocument("ok", new BsonInt32(0)), SERVER));
  }

  @Test
  void refusedCredentialsAreForbidden() {
    MongoCredential credential =
        MongoCredential.createCredential("user", "admin", "secret".toCharArray());

    assertThat(Statuses.of(new MongoSecurityException(credential, "no")))
        .isSameAs(Status.FORBIDDEN);
  }

  @ParameterizedTest
  @CsvSource({
    "13, FORBIDDEN",
    "18, FORBIDDEN",
    "6, SERVICE_UNAVAILABLE",
    "249, SERVICE_UNAVAILABLE",
    "13388, SERVICE_UNAVAILABLE",
    "10107, SERVICE_UNAVAILABLE",
    "2, BAD_REQUEST",
    "73, BAD_REQUEST",
    "11000, ERROR",
    "1, ERROR"
  })
  void mapsServerCode(int code, String status) {
    BsonDocument reply =
        new BsonDocument("ok", new BsonInt32(0)).append("code", new BsonInt32(code));

    assertThat(Statuses.of(new MongoCommandException(reply, SERVER)).getName()).isEqualTo(status);
    assertThat(
            Statuses.of(
                    new MongoWriteException(
                        new WriteError(code, "failed", new BsonDocument()), SERVER, Set.of()))
                .getName())
        .isEqualTo(status);
    assertThat(
            Statuses.of(
                    new MongoBulkWriteException(
                        BulkWriteResult.unacknowledged(),
                        List.of(new BulkWriteError(code, "failed", new BsonDocument(), 0)),
                        null,
                        SERVER,
                        Set.of()))
                .getName())
        .isEqualTo(status);
  }

  @Test
  void commandsRejectedByDriverAreBadRequests() {
    assertThat(Statuses.of(new IllegalArgumentException("collection name")))
        .isSameAs(Status.BAD_REQUEST);
    assertThat(Statuses.of(new BsonMaximumSizeExceededException("16 MB")))
        .isSameAs(Status.BAD_REQUEST);
  }

  @Test
  void otherFailuresAreErrors() {
    assertThat(Statuses.of(new MongoClientException("?"))).isSameAs(Status.ERROR);
    assertThat(Statuses.of(new IllegalStateException("?"))).isSameAs(Status.ERROR);
  }
}
