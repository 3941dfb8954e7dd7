package dev.onehop.routing.internal.direct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import org.bson.BsonDouble;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Commands such as {@code endSessions}, by which a client ends or refreshes its sessions. */
class SessionsTest {
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new);

  @AfterEach
  void close() {
    cluster.close();
  }

  /**
   * Commands on sessions go to the servers that have used them, and a silent server does not delay
   * these commands.
   */
  @Test
  void endsSessionsOnServersThatUsedThem() {
    cluster.execute("{find: 'c', filter: {_id: 5}, lsid: {id: 'a'}, $db: 'it'}");

    assertThat(cluster.execute("{endSessions: [{id: 'a'}], $db: 'admin'}").getNumber("ok"))
        .isEqualTo(new BsonDouble(1));
    cluster.execute("{refreshSessions: [{id: 'a'}], $db: 'admin'}");

    for (String server : List.of("s1", "config")) {
      assertThat(cluster.seen(server, "endSessions")).hasSize(1);
      assertThat(cluster.seen(server, "refreshSessions")).hasSize(1);
    }
    assertThat(cluster.seen("m0", "endSessions")).isEmpty();
  }

  @Test
  void stoppedServerDoesNotDelayEndOfSession() {
    cluster.execute("{find: 'c', filter: {_id: 5}, lsid: {id: 'a'}, $db: 'it'}");
    cluster.execute("{find: 'c', filter: {_id: -5}, lsid: {id: 'a'}, $db: 'it'}");
    cluster.stop("s0");

    assertThat(cluster.execute("{endSessions: [{id: 'a'}], $db: 'admin'}").getNumber("ok"))
        .isEqualTo(new BsonDouble(1));

    assertThat(cluster.seen("s1", "endSessions")).hasSize(1);
  }
}
