package dev.onehop.measure.copying;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.bson.BsonTimestamp;

/** A copy tool with commands over HTTP. */
final class HttpRival extends RivalTool {
  private static final String PROGRESS = "/api/v1/progress";

  /**
   * The interface of a program.
   *
   * @param ends the options that name the source and the destination
   * @param success the field of replies that is false if a command failed
   * @param error the field of replies that has the reason of a failure
   * @param root the prefix of the commands' paths
   * @param ready tests whether the program accepts commands
   * @param copied tests whether all documents are copied
   * @param start the body of the command to start
   * @param logs the option for the folder of the program's logs; empty if there is no such option
   */
  private record Interface(
      List<String> ends,
      String success,
      String error,
      String root,
      Predicate<HttpApi> ready,
      Predicate<HttpApi> copied,
      String start,
      String logs,
      String stateDatabase) {}

  private static final Interface CLUSTER_SYNC =
      new Interface(
          List.of("--source=", "--target="),
          "ok",
          "error",
          "",
          api -> api.answers("/status"),
          api -> api.status("/status").path("initialSync").path("cloneCompleted").asBoolean(),
          "{\"includeNamespaces\": [\"%s.*\", \"%s.*\"]}",
          "",
          "percona_clustersync_mongodb");

  private static final Interface MONGOSYNC =
      new Interface(
          List.of("--cluster0=", "--cluster1="),
          "success",
          "errorDescription",
          "/api/v1",
          api ->
              api.answers(PROGRESS)
                  && api.status(PROGRESS).at("/progress/state").asText().equals("IDLE"),
          api -> api.status(PROGRESS).at("/progress/canCommit").asBoolean(),
          "{\"source\": \"cluster0\", \"destination\": \"cluster1\", \"includeNamespaces\":"
              + " [{\"database\": \"%s\"}, {\"database\": \"%s\"}]}",
          "--logPath=",
          "mongosync_reserved_for_internal_use");

  private final Interface its;
  private final HttpApi api;

  /**
   * Creates a tool without a process.
   *
   * @param tool {@link CopyTool#PCSM} or {@link CopyTool#MONGOSYNC}
   */
  HttpRival(CopyTool tool, Program program, CopyEnd source, CopyEnd destination) {
    super(program, source, destination);
    this.its = tool == CopyTool.PCSM ? CLUSTER_SYNC : MONGOSYNC;
    this.api = new HttpApi(program, its.success(), its.error());
  }

  @Override
  void launch() throws InterruptedException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                its.ends().get(0) + source().url(),
                its.ends().get(1) + destination().url(),
                "--port=" + program().port()));
    if (!its.logs().isEmpty()) {
      arguments.add(its.logs() + program().folder());
    }
    program().start(arguments, () -> its.ready().test(api));
  }

  @Override
  void begin() {
    String start = its.start().formatted(Workload.DATABASE, Workload.SIGNALS);
    var unused = program().write("start.json", start + "\n");
    api.command(its.root() + "/start", start);
  }

  @Override
  boolean hasCopied() {
    return its.copied().test(api);
  }

  @Override
  boolean pause() {
    return api.tryCommand(its.root() + "/pause", "{}");
  }

  @Override
  public void follow(BsonTimestamp since) {
    api.command(its.root() + "/resume", "{}");
  }

  @Override
  String stateDatabase() {
    return its.stateDatabase();
  }
}
