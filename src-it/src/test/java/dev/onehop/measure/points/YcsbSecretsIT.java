package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.it.RealMongod;
import dev.onehop.it.TestCertificates;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.ServerWatch;
import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Progress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** YCSB processes connect to a server with TLS and access control, and show no password. */
@Tag("full")
class YcsbSecretsIT {

  @TempDir private Path folder;

  @Test
  void loadsIntoASecuredServerAndKeepsThePasswordToItself() throws Exception {
    TestCertificates certificates = TestCertificates.create();
    try (RealMongod mongod = RealMongod.startWithTls(certificates)) {
      ClusterUrl url =
          ClusterUrl.parse(
              "mongodb://root@localhost:" + mongod.port() + "/?tls=true&authSource=admin",
              RealMongod.PASSWORD,
              certificates.authorityPem());
      Workload workload =
          Workload.load(Path.of("../workloads/workloada"), Map.of()).withRecords(300);
      YcsbClients clients =
          new YcsbClients(
              new UrlOnly(url), Progress.silent(), folder, workload, ClientPlan.ONE, true, null);
      String encoded = "correct%20horse";
      try (YcsbClients.Running running =
          clients.start(Map.of(folder, YcsbArguments.load(clients, folder)))) {
        for (long pid : running.pids()) {
          assertThat(Files.readString(Path.of("/proc/" + pid + "/cmdline")))
              .contains("YcsbChild")
              .doesNotContain(RealMongod.PASSWORD, encoded);
        }
        assertThat(running.await(Duration.ofMinutes(2), false).errors()).isZero();
      }
      try (Stream<Path> written = Files.walk(folder)) {
        for (Path file : written.filter(Files::isRegularFile).toList()) {
          assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
              .as("%s", file)
              .doesNotContain(RealMongod.PASSWORD, encoded);
        }
      }
      try (MongoClient client =
          MongoClients.create(
              MongoClientSettings.builder()
                  .applyConnectionString(new ConnectionString(url.secret()))
                  .applyToSslSettings(ssl -> ssl.enabled(true).context(certificates.trusting()))
                  .build())) {
        assertThat(client.getDatabase("ycsb").getCollection("usertable").countDocuments())
            .isEqualTo(300);
      }
    }
  }

  /** A cluster for the bench that has only a URL. */
  private static final class UrlOnly extends BenchCluster {
    UrlOnly(ClusterUrl url) {
      super(
          url,
          TopologyFacts.here("one server", List.of()),
          new ServerFacts("", new ServerFacts.Router(ServerFacts.Router.NONE, ""), ""),
          Map.of());
    }

    @Override
    public boolean isFar() {
      return false;
    }

    @Override
    public Map<String, String> shardHosts() {
      return Map.of();
    }

    @Override
    public List<String> routers() {
      return List.of();
    }

    @Override
    public void shard(String collection, List<? extends BsonValue> splitPoints) {}

    @Override
    public @Nullable Placement placement(String collection, long expected) {
      return null;
    }

    @Override
    public ServerWatch watch(String collection, double sampleRate) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void onServerDeath(Consumer<String> listener) {}

    @Override
    public void close() {}
  }
}
