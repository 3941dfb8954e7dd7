package dev.onehop.resync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.mongodb.ConnectionString;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterUrlTest {

  @Test
  void hidesPasswordInText() {
    String password = "p@ss/w:rd% é+";
    ClusterUrl url = ClusterUrl.parse("mongodb://ann@a:1,b:2/db?tls=true", password, null);

    assertThat(url).hasToString("mongodb://ann@a:1,b:2/db?tls=true");
    ConnectionString secret = new ConnectionString(url.secret());
    assertThat(Objects.requireNonNull(secret.getCredential()).getPassword())
        .isEqualTo(password.toCharArray());
    assertThat(secret.getCredential().getUserName()).isEqualTo("ann");
    assertThat(secret.getHosts()).containsExactly("a:1", "b:2");
    assertThat(url.database()).isEqualTo("db");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"mongodb://a", "mongodb://a/", "mongodb://a/?w=1", "mongodb://ann@a?w=majority"})
  void defaultDatabaseIsYcsb(String given) {
    ClusterUrl url = ClusterUrl.parse(given, "secret", null);

    assertThat(url.database()).isEqualTo("ycsb");
    assertThat(new ConnectionString(url.secret()).getDatabase()).isEqualTo("ycsb");
    assertThat(new ConnectionString(url.secret()).getWriteConcern() != null)
        .isEqualTo(given.contains("w="));
  }

  @Test
  void userNeedsPasswordExceptWithCertificate() {
    assertThatThrownBy(() -> ClusterUrl.parse("mongodb://ann@a", null, null))
        .isInstanceOf(Failure.class)
        .hasMessage("--url names the user ann: set ONEHOP_PASSWORD as well");
    assertThat(
            ClusterUrl.parse("mongodb://CN=x@a/?authMechanism=MONGODB-X509&tls=true", null, null))
        .hasToString("mongodb://CN=x@a/ycsb?authMechanism=MONGODB-X509&tls=true");
  }

  @Test
  void rejectsPasswordInUrlWithoutPrintingIt() {
    assertThatThrownBy(() -> ClusterUrl.parse("mongodb://ann:hidden@a", "other", null))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("ONEHOP_PASSWORD")
        .hasMessageNotContaining("hidden");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a:27017", "mongodb://", "mongodb://a:x", "http://a"})
  void rejectsInvalidUrl(String given) {
    assertThatThrownBy(() -> ClusterUrl.parse(given, null, null))
        .isInstanceOf(Failure.class)
        .hasMessageStartingWith("--url: ");
  }

  @Test
  void canBePassedAsJson() throws Exception {
    ClusterUrl url =
        ClusterUrl.parse("mongodb://ann@a:1/db?tls=true", "p@ss", Path.of("/etc/ca.pem"));

    ObjectMapper json = new ObjectMapper();
    ClusterUrl parsed = json.readValue(json.writeValueAsString(url), ClusterUrl.class);

    assertThat(parsed).hasToString(url.toString());
    assertThat(parsed.secret()).isEqualTo(url.secret());
    assertThat(parsed.authority()).isEqualTo(url.authority());
  }

  @Test
  void addsUserOfTestbed() {
    ClusterUrl open = ClusterUrl.open("mongodb://va1:27017/ycsb?w=1");

    assertThat(open.as("onehop", null, null).secret()).isEqualTo("mongodb://va1:27017/ycsb?w=1");
    ClusterUrl secured = open.as("onehop", "a b", Path.of("ca.pem"));
    assertThat(secured).hasToString("mongodb://va1:27017/ycsb?w=1&tls=true");
    assertThat(secured.secret())
        .isEqualTo("mongodb://onehop:a%20b@va1:27017/ycsb?w=1&authSource=admin&tls=true");
  }
}
