package dev.onehop.routing.internal.targeted;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.mongodb.MongoCommandException;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterType;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class UnroutedNoticeTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger("unrouted-notice-test");
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final UnroutedNotice notice = new UnroutedNotice(logger);

  @BeforeEach
  void listen() {
    logged.start();
    logger.addAppender(logged);
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(logged);
  }

  @Test
  void logsReplicaSetOnce() {
    notice.noTable("a.b", new NotShardedException(ClusterType.REPLICA_SET));
    notice.noTable("a.c", new NotShardedException(ClusterType.REPLICA_SET));

    assertThat(messages())
        .containsExactly("the URI leads to a replica set, not to a mongos: nothing will be routed");
    assertThat(logged.list.get(0).getLevel()).isEqualTo(Level.WARN);
  }

  @Test
  void logsMissingPrivilegeOnce() {
    notice.noTable("a.b", unauthorized());
    notice.noTable("a.c", unauthorized());

    assertThat(messages()).hasSize(1);
    assertThat(messages().get(0))
        .contains("action find on the database config", "not authorized on config");
  }

  @Test
  void logsOtherReasonsAgainAfterChange() {
    notice.noTable("a.b", new IllegalStateException("one"));
    notice.noTable("a.b", new IllegalStateException("one"));
    notice.noTable("a.c", new IllegalStateException("one"));
    notice.noTable("a.b", new IllegalStateException("two"));

    assertThat(messages())
        .containsExactly(
            "a.b: no routing table, operations go to the nearest mongos: one",
            "a.c: no routing table, operations go to the nearest mongos: one",
            "a.b: no routing table, operations go to the nearest mongos: two");
  }

  private static MongoCommandException unauthorized() {
    return new MongoCommandException(
        BsonDocument.parse(
            "{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on config'}"),
        new ServerAddress());
  }

  private List<String> messages() {
    return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }
}
