package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.resync.Progress;
import dev.onehop.shards.command.ScriptedCluster;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * The findings of the doctor on scripted servers: the mongoses m0 and m1, and the shards s0 and s1.
 */
class DoctorCommandTest {
  private static final int WIRE_6_0 = 17;
  private static final String HIDDEN = "cluster0-shard-00-00.abcde.invalid:27016";

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @TempDir private Path folder;

  private record Ended(int exitCode, String out, String err) {}

  @BeforeEach
  void listMongoses() {
    setMongoses(at("m0"), at("m1"));
  }

  @AfterEach
  void close() {
    cluster.release();
    cluster.close();
  }

  private String at(String server) {
    return cluster.address(server).toString();
  }

  private void setMongoses(String... names) {
    List<String> entries =
        Stream.of(names)
            .map(name -> "{_id: '" + name + "', ping: {$date: '2026-01-01T00:00:00Z'}}")
            .toList();
    answer("mongos", "[" + String.join(",", entries) + "]");
  }

  /**
   * Sets the documents of a collection of the database config on m0; other replies stay the same.
   */
  private void answer(String collection, String documents) {
    cluster.script(
        "m0",
        command ->
            isFind(command, collection)
                ? ScriptedCluster.cursor(BsonArray.parse(documents))
                : command.containsKey("serverStatus")
                    ? BsonDocument.parse("{host: '" + HIDDEN + "', ok: 1}")
                    : null);
  }

  private static boolean isFind(BsonDocument command, String collection) {
    return command.getFirstKey().equals("find")
        && command.getString("find").getValue().equals(collection);
  }

  private Ended doctor(String... arguments) {
    List<String> all = new ArrayList<>(List.of("doctor"));
    all.addAll(List.of(arguments));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(all.toArray(String[]::new));
    return new Ended(exitCode, out.toString().replaceAll("\\s+", " "), err.toString());
  }

  private String url(String server) {
    return "mongodb://" + at(server) + "/";
  }

  @Test
  void rejectsMissingFolderBeforeConnecting() throws Exception {
    Ended ended = doctor("--url", "mongodb://nowhere/", "--out", "/nowhere/at-all/doctor.json");

    assertThat(ended.exitCode()).isEqualTo(2);
    assertThat(ended.err()).contains("--out /nowhere/at-all/doctor.json: there is no such folder");
  }

  @Test
  void reportsRoutableCluster() throws Exception {
    Path file = folder.resolve("doctor.json");

    Ended ended = doctor("--url", url("m0"), "--out", file.toString());

    assertThat(ended.exitCode()).as(ended.out()).isZero();
    assertThat(ended.out())
        .contains("OK URL mongos " + at("m0"))
        .contains("OK privileges the routing metadata can be read")
        .contains("OK names all 4 servers can be reached")
        .contains("OK affinity a mongos is near 2 of 2 shards - s0: 127.0.0.1:")
        .contains(at("m0") + " (same host)")
        .contains("OK TLS off")
        .contains("Operations can be routed. Possible: targeted, direct, pipelining.");
    JsonNode json = new ObjectMapper().readTree(Files.readString(file));
    assertThat(json.path("exitCode").asInt()).isZero();
    assertThat(json.path("modes")).hasSize(3);
    assertThat(json.path("findings").findValuesAsText("check"))
        .containsExactly(
            "URL",
            "version",
            "privileges",
            "names",
            "affinity",
            "round trips",
            "TLS",
            "targeted",
            "direct",
            "pipelining");
    assertThat(doctor("--url", url("m0"), "--json").out()).startsWith("{").endsWith("} ");
  }

  @Test
  void sendsOnlyReadCommands() {
    doctor("--url", url("m0"));

    assertThat(cluster.seen())
        .extracting(BsonDocument::getFirstKey)
        .isSubsetOf(
            "hello",
            "isMaster",
            "ismaster",
            "buildInfo",
            "find",
            "ping",
            "connectionStatus",
            "listDatabases",
            "getDefaultRWConcern",
            "serverStatus",
            "endSessions");
  }

  @Test
  void reportsUnreachableMongosNames() {
    setMongoses(HIDDEN);

    Ended ended = doctor("--url", url("m0"), "--timeout", "2s");

    assertThat(ended.out())
        .contains("PROBLEM names no mongos can be reached by its name in config.mongos")
        .contains("cannot reach " + HIDDEN + " (unknown host)")
        .contains("> Set onehop.hostMapping, FROM=TO for each mongos. " + HIDDEN + "=" + at("m0"))
        .contains("PROBLEM affinity a mongos is near 0 of 2 shards")
        .contains("PROBLEM targeted no mongos");
  }

  @Test
  void hostMappingMakesHiddenNamesReachable() {
    setMongoses(HIDDEN);

    Ended ended = doctor("--url", url("m0") + "?onehop.hostMapping=" + HIDDEN + "=" + at("m0"));

    assertThat(ended.exitCode()).as(ended.out()).isZero();
    assertThat(ended.out())
        .contains("OK names all 3 servers can be reached")
        .contains("s1: " + at("m0") + " (same host)");
  }

  @Test
  void warnsOfStoppedMongos() {
    cluster.stop("m1");

    Ended ended = doctor("--url", url("m0"), "--timeout", "5s");

    assertThat(ended.exitCode()).as(ended.out()).isZero();
    assertThat(ended.out())
        .contains("WARNING names can't be reached - cannot reach " + at("m1"))
        .contains("> Start them")
        .contains("OK affinity a mongos is near 2 of 2 shards - s0: " + at("m0") + " (same host)");
  }

  @Test
  void reportsMissingPrivileges() {
    cluster.script(
        "m0",
        command ->
            Stream.of("chunks", "changelog").anyMatch(each -> isFind(command, each))
                ? BsonDocument.parse("{ok: 0, code: 13, errmsg: 'not authorized'}")
                : null);

    Ended ended = doctor("--url", url("m0"));

    assertThat(ended.exitCode()).isEqualTo(3);
    assertThat(ended.out())
        .contains("PROBLEM privileges the user may not read - config.chunks - config.changelog")
        .contains("> Give the user the role read on the database config, or clusterMonitor.")
        .endsWith("Operations can't be routed. ");
  }

  @Test
  void reportsUnsuitableUrls() {
    Ended replicaSet = doctor("--url", url("s0"));
    Ended balanced = doctor("--url", url("m0") + "?loadBalanced=true");
    Ended one = doctor("--url", url("m0") + "?directConnection=true");
    Ended config = doctor("--url", url("config"), "--timeout", "5s");

    assertThat(replicaSet.exitCode()).isEqualTo(3);
    assertThat(replicaSet.out())
        .contains("PROBLEM URL replica set " + at("s0"), "nothing to route");
    assertThat(balanced.exitCode()).isEqualTo(3);
    assertThat(balanced.out()).contains("PROBLEM URL loadBalanced=true hides the mongoses");
    assertThat(one.exitCode()).isEqualTo(3);
    assertThat(one.out())
        .contains("nothing is routed: directConnection=true")
        .doesNotContain("affinity");
    assertThat(config.exitCode()).as(config.out()).isZero();
    assertThat(config.out())
        .contains("WARNING URL config server " + at("config"), "Possible: direct, pipelining.");
  }

  @Test
  void warnsOfZonesWithoutMongos() {
    String zones = "here=127.0.0.*,there=10.0.0.*|" + at("m0").replace("127.", "126.");

    Ended ended = doctor("--url", url("m0"), "--zones", zones);
    Ended ofUrl = doctor("--url", url("m0") + "?onehop.preferredZones=here=127.0.0.*");

    assertThat(ended.exitCode()).isZero();
    assertThat(ended.out())
        .contains(
            "WARNING zones no mongos that the URL names replies in these zones: - there=10.0.0.*")
        .doesNotContain("- here");
    assertThat(ofUrl.out()).contains("OK zones in each zone, a mongos that the URL names replies");
  }

  @Test
  void reportsUnresponsiveServer() {
    cluster.hold("m0", command -> true);

    Ended ended = doctor("--url", url("m0"), "--timeout", "500ms");

    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.out()).contains(at("m0")).endsWith("The cluster can't be examined. ");
  }

  @Test
  void reportOmitsUserAndPassword() throws InterruptedException {
    cluster.script(
        "m0",
        command ->
            command.containsKey("saslStart")
                ? BsonDocument.parse("{ok: 0, code: 18, errmsg: 'no user \\'carla\\': horse'}")
                : null);
    ConnectionOptions connection = new ConnectionOptions();
    new CommandLine(connection)
        .registerConverter(Duration.class, new DurationConverter())
        .parseArgs("--timeout", "2s");
    String secret = "mongodb://carla:horse@" + at("m0") + "/";

    Diagnosis diagnosis = new Doctor(secret, null, connection).examine(Progress.silent());

    assertThat(diagnosis.exitCode()).isEqualTo(1);
    assertThat(diagnosis.toJson())
        .contains("the servers reject the user")
        .doesNotContain("carla", "horse");
    assertThat(diagnosis.toText(80)).doesNotContain("carla", "horse");
  }

  @Test
  void linesFitTheTerminal() {
    String sentence = "a sentence of some words ".repeat(6).strip();
    Diagnosis.Finding finding =
        new Diagnosis.Finding(
            "names", Diagnosis.Level.WARNING, sentence, sentence, List.of(HIDDEN));

    String text = new Diagnosis("", 0, "Yes.", List.of(), List.of(finding)).toText(80);

    assertThat(text.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    assertThat(text.replaceAll("\\s+", " "))
        .isEqualTo("WARNING names %1$s - %2$s > %1$s Yes.".formatted(sentence, HIDDEN));
  }

  @Test
  void rejectsInvalidOptions() {
    assertThat(doctor("--url", "mongodb://u:horse@h/").err())
        .contains("leave the password out")
        .doesNotContain("horse");
    assertThat(doctor("--url", url("m0"), "--zones", "a=x|x").err()).contains("given twice");
    assertThat(doctor("--url", "m0").exitCode()).isEqualTo(2);
    assertThat(doctor().exitCode()).isEqualTo(2);
  }
}
