package dev.onehop.measure.copying;

import java.nio.file.Path;
import java.util.List;
import org.bson.BsonTimestamp;

/** MongoDB's mongosync, controlled by its HTTP interface. */
final class Mongosync extends RivalTool {
  private static final String PROGRESS = "/api/v1/progress";
  private static final String START =
      ("{\"source\": \"cluster0\", \"destination\": \"cluster1\", \"includeNamespaces\":"
              + " [{\"database\": \"%s\"}, {\"database\": \"%s\"}]}")
          .formatted(Workload.DATABASE, Workload.SIGNALS);

  private final HttpApi api = new HttpApi(program(), "success", "errorDescription");

  Mongosync(Path path, CopyEnd source, CopyEnd destination, Path folder) {
    super(CopyTool.MONGOSYNC, path, source, destination, folder);
  }

  @Override
  void launch() throws InterruptedException {
    program()
        .start(
            List.of(
                "--cluster0=" + source().url(),
                "--cluster1=" + destination().url(),
                "--port=" + program().port(),
                "--logPath=" + program().folder()),
            () -> api.answers(PROGRESS) && state().equals("IDLE"));
  }

  private String state() {
    return api.status(PROGRESS).path("progress").path("state").asText();
  }

  @Override
  void begin() {
    var unused = program().write("start.json", START + "\n");
    api.command("/api/v1/start", START);
  }

  @Override
  boolean hasCopied() {
    return api.status(PROGRESS).path("progress").path("canCommit").asBoolean();
  }

  @Override
  boolean pause() {
    return api.tryCommand("/api/v1/pause", "{}");
  }

  @Override
  public void follow(BsonTimestamp since) {
    api.command("/api/v1/resume", "{}");
  }

  @Override
  String stateDatabase() {
    return "mongosync_reserved_for_internal_use";
  }
}
