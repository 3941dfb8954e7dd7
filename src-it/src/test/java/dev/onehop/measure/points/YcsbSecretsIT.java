package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.it.RealMongod;
import dev.onehop.it.TestCertificates;
import dev.onehop.resync.ClusterUrl;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** YCSB's processes get into a server with TLS and access control, and show no secret. */
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
      Path secretFile;
      List<String> command;
      try (YcsbSecrets secrets = YcsbSecrets.of(url)) {
        secretFile = secrets.properties();
        assertThat(
                PosixFilePermissions.toString(
                    Files.getPosixFilePermissions(secretFile.getParent())))
            .isEqualTo("rwx------");
        YcsbCommand ycsb =
            new YcsbCommand(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                System.getProperty("java.class.path"),
                workload,
                secrets,
                true,
                null);
        command = ycsb.load(folder);
        YcsbOutput output =
            YcsbProcess.start(command, folder, status -> {}).await(Duration.ofMinutes(2));
        assertThat(output.errors()).isZero();
      }
      assertThat(secretFile.getParent()).doesNotExist();
      String encoded = "correct%20horse";
      assertThat(String.join(" ", command)).doesNotContain(RealMongod.PASSWORD, encoded);
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
}
