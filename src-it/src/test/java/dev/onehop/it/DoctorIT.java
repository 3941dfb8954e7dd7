package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.wire.ServerAddressName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code onehop doctor} as a command of a shell. Some of the clusters can be routed, others cannot.
 */
@ShardedCluster
@SharedReplicaSet
class DoctorIT {
  private static final String USER = "carla";
  private static final String PASSWORD = "battery staple";
  private static final String CLUSTER = "cluster.onehop.test";
  private static final String LINK = "link.onehop.test";

  @TempDir private Path folder;

  private record Result(int exitCode, String out) {}

  @Test
  void reportsMongosNearEachShard(SharedCluster cluster) throws Exception {
    Result result = doctor("--url", cluster.testbed().url());

    assertThat(result.exitCode()).as(result.out()).isZero();
    assertThat(result.out())
        .contains("OK privileges", "OK affinity a mongos is near 3 of 3 shards", "(same host)")
        .contains("Operations can be routed. Possible: targeted, direct, pipelining.");
  }

  @Test
  @Tag("full")
  void rejectsReplicaSet(RealMongod set) throws Exception {
    Result result = doctor("--url", set.url());

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.out())
        .contains("PROBLEM URL replica set")
        .contains("> There is nothing to route. Name the mongoses of a sharded cluster.")
        .contains("Operations can't be routed.");
  }

  /** No mongos with access control is available, so the URI names the config server. */
  @Test
  @Tag("full")
  void reportsMissingPrivileges() throws Exception {
    try (SecuredCluster cluster = SecuredCluster.start()) {
      cluster.shardCollection("c", 0);
      String url = cluster.url().replace("://", "://" + USER + "@") + "?authSource=admin";
      Document read = new Document("role", "read").append("db", "it");
      createUser(cluster, USER, read, "config");
      Path file = folder.resolve("doctor.json");

      Result result = doctor("--url", url, "--out", file.toString());

      assertThat(result.exitCode()).as(result.out()).isEqualTo(3);
      assertThat(result.out())
          .contains("PROBLEM privileges the user may not read - config.shards - config.mongos")
          .contains("> Give the user the role read on the database config, or clusterMonitor.");
      JsonNode json = new ObjectMapper().readTree(Files.readString(file));
      assertThat(json.path("exitCode").asInt()).isEqualTo(3);
      assertThat(json.path("findings").findValuesAsText("check")).contains("privileges");
      assertThat(json.toString() + result.out()).doesNotContain(USER, PASSWORD);

      String other = url.replace(USER, "reader");
      createUser(
          cluster,
          "reader",
          new Document("role", "clusterMonitor").append("db", "admin"),
          "config");
      Result unknown = doctor("--url", other, "--json");
      assertThat(unknown.exitCode()).as(unknown.out()).isEqualTo(3);
      assertThat(unknown.out()).contains("rejects the user").doesNotContain("reader");
      createUser(cluster, "reader", read, "one", "two");
      Result known = doctor("--url", other);
      assertThat(known.exitCode()).as(known.out()).isZero();
      assertThat(known.out()).contains("WARNING URL config server").contains("OK direct possible");

      Result rejected = doctor("--url", url.replace(USER, "nobody"));
      assertThat(rejected.exitCode()).isEqualTo(1);
      assertThat(rejected.out())
          .contains("PROBLEM URL the servers reject the user")
          .contains("The cluster can't be examined.")
          .doesNotContain("nobody");
    }
  }

  @Test
  @Tag("full")
  void reportsCertificateProblems() throws Exception {
    TestCertificates certificates = TestCertificates.create();
    try (SecuredCluster cluster = SecuredCluster.startWithTls(certificates)) {
      Document monitor = new Document("role", "clusterMonitor").append("db", "admin");
      createUser(cluster, USER, monitor, "config", "one", "two");
      String url = cluster.url().replace("://", "://" + USER + "@") + "?authSource=admin&tls=true";
      String authority = certificates.authorityPem().toString();

      Result result = doctor("--url", url, "--tls-ca", authority);
      Result untrusted = doctor("--url", url);
      Result other =
          doctor("--tls-ca", authority, "--url", url + "&onehop.hostMapping=localhost=127.0.0.1");

      assertThat(result.exitCode()).as(result.out()).isZero();
      assertThat(result.out())
          .contains("OK TLS on, names match the certificates", "OK direct possible");
      assertThat(untrusted.exitCode()).isEqualTo(1);
      assertThat(untrusted.out()).contains("PROBLEM URL", "certification path");
      assertThat(other.exitCode()).as(other.out()).isEqualTo(3);
      assertThat(other.out()).contains("WARNING TLS on, certificates are rejected - ", "127.0.0.1");
    }
  }

  private static void createUser(
      SecuredCluster cluster, String name, Document role, String... servers) {
    cluster.createUser(
        new Document("createUser", name).append("pwd", PASSWORD).append("roles", List.of(role)),
        "admin",
        servers);
  }

  /** All mongoses have one name, each with another port. The DNS has records for two of them. */
  @Test
  @Tag("full")
  void suggestsMappingForUnreachableNames(SharedCluster cluster) throws Exception {
    Map<String, String> links = new TreeMap<>();
    List<CuttingLink> open = new ArrayList<>();
    try (DnsServer dns = new DnsServer()) {
      for (String address : cluster.testbed().mongosAddresses()) {
        ServerAddressName mongos = ServerAddressName.parse(address);
        open.add(CuttingLink.uncut(mongos.host(), mongos.port()));
        links.put(address, LINK + ":" + open.get(open.size() - 1).port());
      }
      dns.setServers(
          CLUSTER,
          links.values().stream().map(ServerAddressName::parse).toArray(ServerAddressName[]::new));
      String url = "mongodb+srv://" + CLUSTER + "/?tls=false&onehop.hostMapping=";
      String nowhere =
          links.keySet().stream()
              .map(name -> host(name) + "=shard-" + host(name) + ".invalid")
              .collect(Collectors.joining(","));

      Result hidden = doctor("--url", url + nowhere);

      assertThat(hidden.exitCode()).as(hidden.out()).isEqualTo(3);
      assertThat(hidden.out())
          .contains("OK URL mongos of " + CLUSTER + ": " + LINK)
          .contains("PROBLEM names no mongos can be reached by its name in config.mongos")
          .contains("(unknown host)", "PROBLEM targeted no mongos near a shard replies");
      String suggested = hidden.out().replaceFirst(".* FROM=TO for each mongos. ([^ ]+) .*", "$1");
      assertThat(suggested.split(",", -1)).hasSize(3);
      Result mapped = doctor("--url", url + suggested);
      assertThat(mapped.exitCode()).as(mapped.out()).isZero();
      assertThat(mapped.out()).contains("OK affinity a mongos is near 3 of 3 shards", LINK);
    } finally {
      open.forEach(CuttingLink::close);
    }
  }

  private static String host(String name) {
    return ServerAddressName.parse(name).host();
  }

  @Test
  @Tag("full")
  void reportsUnreachableMongos(SharedCluster cluster) throws Exception {
    Testbed testbed = cluster.testbed();
    String dead = testbed.mongosAddresses().get(2);
    testbed.kill(dead);
    try {
      Result result = doctor("--url", "mongodb://" + testbed.mongosAddresses().get(0) + "/");

      assertThat(result.exitCode()).as(result.out()).isZero();
      assertThat(result.out())
          .contains(
              "WARNING names can't be reached - cannot reach " + dead + " (Connection refused)")
          .contains("WARNING affinity a mongos is near 2 of 3 shards", "shard-3: none");
    } finally {
      testbed.restart(dead);
    }
  }

  /**
   * Runs the command in another process, because a test cannot set environment variables and host
   * names of the process that it runs in.
   */
  private Result doctor(String... arguments) throws IOException, InterruptedException {
    Path hosts = Files.writeString(folder.resolve("hosts"), "127.0.0.1 " + LINK + "\n");
    Path out = folder.resolve("out");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.naming.provider.url=" + System.getProperty("java.naming.provider.url", ""),
                "-Djdk.net.hosts.file=" + hosts,
                "-cp",
                System.getProperty("java.class.path"),
                OneHopCommand.class.getName(),
                "doctor"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(folder.resolve("err").toFile());
    builder.environment().put("ONEHOP_PASSWORD", PASSWORD);
    Process process = builder.start();
    assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
    return new Result(process.exitValue(), Files.readString(out).replaceAll("\\s+", " "));
  }
}
