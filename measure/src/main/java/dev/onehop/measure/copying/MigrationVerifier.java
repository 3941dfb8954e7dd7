package dev.onehop.measure.copying;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * MongoDB's migration-verifier. It stores its state in a separate database at the destination and
 * drops this database when it starts.
 */
record MigrationVerifier(Program program, CopyEnd source, CopyEnd destination)
    implements ToolProcess.Verifier, ToolProcess.OfProgram {
  private static final Duration PATIENCE = Duration.ofHours(2);
  private static final String PROGRESS = "/api/v1/progress";

  private HttpApi api() {
    return new HttpApi(program, "success", "error");
  }

  @Override
  public void verify(List<String> collections) throws InterruptedException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--srcURI=" + source.url(),
                "--dstURI=" + destination.url(),
                "--metaURI=" + destination.url(),
                "--clean",
                "--serverPort=" + program.port()));
    for (String collection : collections) {
      arguments.add("--srcNamespace=" + Workload.DATABASE + "." + collection);
      arguments.add("--dstNamespace=" + CopyTool.ONEHOP.database() + "." + collection);
    }
    program.start(arguments, () -> api().answers(PROGRESS));
    try {
      api().command("/api/v1/check", "{}");
      api().command("/api/v1/writesOff", "{}");
      program.await("compare everything", PATIENCE, this::isDone);
    } finally {
      program.stop();
    }
  }

  private boolean isDone() {
    JsonNode progress = api().status(PROGRESS).path("progress");
    if (!progress.path("error").isNull() && !progress.path("error").isMissingNode()) {
      throw api().failed(PROGRESS, progress.path("error").asText());
    }
    JsonNode tasks = progress.path("verificationStatus");
    boolean idle = progress.path("phase").asText().equals("idle");
    if (idle
        && tasks.path("failedTasks").asInt() + tasks.path("metadataMismatchTasks").asInt() > 0) {
      throw Failure.run(program.name() + " found differences: " + tasks);
    }
    // The first generation compares everything. Later ones compare only what was different or has
    // changed, so they may have no task. Before the first generation, the program is idle, too.
    return idle
        && (progress.path("generation").asInt() > 0 || tasks.path("totalTasks").asInt() > 0);
  }
}
