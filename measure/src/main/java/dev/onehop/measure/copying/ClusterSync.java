package dev.onehop.measure.copying;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import org.bson.BsonTimestamp;

/** Percona ClusterSync for MongoDB, controlled by its HTTP interface. */
final class ClusterSync extends RivalTool {
  private static final String START =
      "{\"includeNamespaces\": [\"%s.*\", \"%s.*\"]}"
          .formatted(Workload.DATABASE, Workload.SIGNALS);

  private final HttpApi api = new HttpApi(program(), "ok", "error");

  ClusterSync(Path path, CopyEnd source, CopyEnd destination, Path folder) {
    super(CopyTool.PCSM, path, source, destination, folder);
  }

  @Override
  void launch() throws InterruptedException {
    program()
        .start(
            List.of(
                "--source=" + source().url(),
                "--target=" + destination().url(),
                "--port=" + program().port()),
            () -> api.answers("/status"));
  }

  @Override
  void begin() {
    var unused = program().write("start.json", START + "\n");
    api.command("/start", START);
  }

  @Override
  boolean hasCopied() {
    JsonNode status = api.status("/status");
    return status.path("initialSync").path("cloneCompleted").asBoolean();
  }

  @Override
  boolean pause() {
    return api.tryCommand("/pause", "{}");
  }

  @Override
  public void follow(BsonTimestamp since) {
    api.command("/resume", "{}");
  }

  @Override
  String stateDatabase() {
    return "percona_clustersync_mongodb";
  }
}
