package dev.onehop.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailureTest {
  private static String line(String servers) {
    return Failure.firstLine(
        new RuntimeException(
            "Timed out while waiting for a server that matches WritableServerSelector. Client view"
                + " of cluster state is {type=UNKNOWN, servers=["
                + servers
                + "]"));
  }

  @Test
  void reportsWrongPassword() {
    assertThat(
            line(
                "{address=h:1, type=UNKNOWN, state=CONNECTING,"
                    + " exception={com.mongodb.MongoSecurityException: Exception authenticating"
                    + " MongoCredential{mechanism=SCRAM-SHA-256, userName='u', source='admin',"
                    + " password=<hidden>, mechanismProperties=<hidden>}}, caused by"
                    + " {com.mongodb.MongoCommandException: Command execution failed on MongoDB"
                    + " server with error 18 (AuthenticationFailed): 'Authentication failed.' on"
                    + " server h:1. The full response is {\"ok\": 0.0, \"code\": 18}}}"))
        .contains("Authentication failed");
  }

  @Test
  void shortensReasonOfSeveralLines() {
    assertThat(
            line(
                "{address=h:1, type=UNKNOWN, state=CONNECTING,"
                    + " exception={com.mongodb.MongoSocketOpenException: Exception opening"
                    + " socket}, caused by {java.net.ConnectException: one\ntwo}}"))
        .contains("h:1")
        .doesNotContain("exception={");
  }

  @Test
  void shortensUnresolvedSrvName() {
    assertThat(
            Failure.firstLine(
                new RuntimeException(
                    "Timed out while waiting for a server that matches X. Client view of cluster"
                        + " state is {type=UNKNOWN,"
                        + " srvResolutionException=com.mongodb.MongoConfigurationException: Failed"
                        + " looking up SRV record for '_mongodb._tcp.no.invalid'., servers=[]")))
        .doesNotContain("Client view of cluster state");
  }

  @Test
  void recognisesInterruptionsOfDriversAndChannels() {
    for (Exception each :
        List.of(
            new InterruptedException(),
            new MongoInterruptedException("waiting", null),
            new RuntimeException(new InterruptedException()),
            Failure.run("the copy failed", new ClosedByInterruptException()))) {
      assertThat(Failure.of(each).exitCode()).as("%s", each).isEqualTo(Failure.INTERRUPTED);
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(Failure.of(new MongoException("no")).exitCode()).isEqualTo(Failure.RUN);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void searchForPrimaryCanBeInterrupted() {
    try (ReplicaSetStatus set = new ReplicaSetStatus(ClusterUrl.open("mongodb://127.0.0.1:1/"))) {
      Thread.currentThread().interrupt();
      Failure failure = Failure.of(catchThrowableOfType(RuntimeException.class, set::primary));
      assertThat(failure.exitCode()).isEqualTo(Failure.INTERRUPTED);
    } finally {
      boolean unused = Thread.interrupted();
    }
  }

  @Test
  void omitsIntroductionOfNextLine() {
    assertThat(Failure.firstLine(new RuntimeException("s1 ended; its log ends with:\n  a\n  b")))
        .isEqualTo("s1 ended");
    assertThat(Failure.firstLine(new RuntimeException("s1 ended; see a:b"))).contains("a:b");
  }

  @Test
  void reportsLineAndColumn() {
    assertThat(
            Failure.usage(
                "expected close marker for Object (start marker at [Source: REDACTED"
                    + " (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column:"
                    + " 7])"))
        .hasMessage("expected close marker for Object (start marker at line: 1, column: 7)");
  }
}
