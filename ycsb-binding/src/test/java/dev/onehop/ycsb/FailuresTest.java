package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoWriteException;
import com.mongodb.ServerAddress;
import com.mongodb.WriteError;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class FailuresTest {
  // Long enough for the first attempt to connect on a busy machine.
  private static final String OPTIONS = "/ycsb?serverSelectionTimeoutMS=2000";

  @Test
  void reportsRefusedConnectionLikeOperatingSystem() {
    // Port 1 (tcpmux) has had no server for decades.
    assertThat(connecting("mongodb://user:secret@127.0.0.1:1" + OPTIONS))
        .isEqualTo("cannot use 127.0.0.1:1 (mongodb.url): Connection refused");
  }

  @Test
  void reportsNameOfUnknownHost() {
    assertThat(connecting("mongodb://nohost.invalid:27017" + OPTIONS))
        .startsWith("cannot use nohost.invalid:27017 (mongodb.url): unknown host nohost.invalid");
  }

  @Test
  void reportsRefusedCredentialsWithoutPassword() {
    MongoException refusal =
        new MongoCommandException(
            BsonDocument.parse(
                "{ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication"
                    + " failed.'}"),
            new ServerAddress("h", 1));
    MongoSecurityException failure =
        new MongoSecurityException(
            MongoCredential.createCredential("user", "admin", "secret".toCharArray()),
            "Exception authenticating",
            refusal);

    assertThat(Failures.connecting(options("mongodb://user:secret@h:1/ycsb"), failure))
        .isEqualTo(
            "h:1 refused the credentials in mongodb.url: Authentication failed."
                + " (18 AuthenticationFailed, from h:1)");
  }

  @Test
  void reportsFirstFailureOfBulkWrite() {
    BulkWriteError error = new BulkWriteError(11000, "duplicate key", new BsonDocument(), 0);
    BulkWriteError other = new BulkWriteError(2, "bad value", new BsonDocument(), 1);

    assertThat(
            Failures.oneLine(
                new MongoBulkWriteException(
                    BulkWriteResult.unacknowledged(),
                    List.of(error, other),
                    null,
                    new ServerAddress("h", 1),
                    Set.of())))
        .isEqualTo("2 writes of a bulk write failed, first with: duplicate key (11000, from h:1)");
  }

  @Test
  void reportsServerMessageOfFailedWrite() {
    assertThat(
            Failures.oneLine(
                new MongoWriteException(
                    new WriteError(11000, "duplicate key", new BsonDocument()),
                    new ServerAddress("h", 1),
                    Set.of())))
        .isEqualTo("duplicate key (11000, from h:1)");
  }

  @Test
  void messagesAreOneLine() {
    assertThat(Failures.oneLine(new IllegalStateException("one\n  two\r\nthree\n")))
        .isEqualTo("one two three");
    assertThat(Failures.oneLine(new IllegalStateException())).isEqualTo("IllegalStateException");
  }

  private static String connecting(String url) {
    BindingOptions options = options(url);
    Executable ping =
        () -> {
          try (MongoClient client = MongoClients.create(options.clientSettings())) {
            client.getDatabase("ycsb").runCommand(Documents.PING);
          }
        };
    return Failures.connecting(options, assertThrows(MongoException.class, ping));
  }

  private static BindingOptions options(String url) {
    Properties properties = new Properties();
    properties.setProperty("mongodb.url", url);
    return BindingOptions.of(properties);
  }
}
