package dev.onehop.ycsb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.json.JsonWriterSettings;
import org.jspecify.annotations.Nullable;

/**
 * A run in a few numbers, as the file {@code onehop.summary} holds them.
 *
 * <p>YCSB's own throughput counts connecting as part of the run; the measured time here is that
 * from the start of the first measured operation to the end of the last one, over all threads.
 *
 * @param mode the binding's name
 * @param firstOperationNanos {@link System#nanoTime} at the first operation's start; 0 without any
 * @param lastOperationNanos {@link System#nanoTime} at the last operation's end; 0 without any
 * @param operations calls to the binding; a read-modify-write is two of them
 * @param errors those that did not end in a status which is OK for YCSB, and every document of a
 *     batch that could not be written
 * @param warmupOperations unmeasured reads before the first operation
 * @param warmupSeconds how long these took
 * @param steady whether their rate was steady by then; null if that was not judged
 * @param routes operations by routing decision, warm-up included; empty without routing
 * @param reached to which error the throughput is known; null if that was not asked for
 * @param openLoop what became of the intended operations; null in a closed loop
 * @param client which of several clients this is; null if it is the only one
 */
record RunSummary(
    String mode,
    long firstOperationNanos,
    long lastOperationNanos,
    long operations,
    long errors,
    long warmupOperations,
    double warmupSeconds,
    @Nullable Boolean steady,
    Map<String, Long> routes,
    @Nullable BatchMeans reached,
    @Nullable Intended openLoop,
    @Nullable Client client) {

  /**
   * One of several clients that started together.
   *
   * @param index from 0
   * @param of how many there are
   * @param startedAtMillis when it started, by its machine's clock, since 1970
   * @param cpuNanos processor time of its process from then until the last operation ended
   */
  record Client(int index, int of, long startedAtMillis, long cpuNanos) {
    BsonDocument toDocument() {
      return new BsonDocument("index", new BsonInt32(index))
          .append("of", new BsonInt32(of))
          .append("startedAtMillis", new BsonInt64(startedAtMillis))
          .append("cpuNanos", new BsonInt64(cpuNanos));
    }
  }

  /**
   * Operations that were to be issued at their times.
   *
   * @param rate operations per second
   * @param operations how many there were to be issued
   * @param notIssued how many of these were not issued by the end
   * @param unanswered how many were issued and not answered by the end
   */
  record Intended(double rate, long operations, long notIssued, long unanswered) {
    BsonDocument toDocument() {
      return new BsonDocument("rate", new BsonDouble(rate))
          .append("operations", new BsonInt64(operations))
          .append("notIssued", new BsonInt64(notIssued))
          .append("unanswered", new BsonInt64(unanswered));
    }
  }

  /**
   * The version of the driver that runs. By reflection, for a constant would be that of the driver
   * that this was compiled with.
   */
  private static String driverVersion() {
    try {
      return String.valueOf(
          Class.forName("com.mongodb.internal.build.MongoDriverVersion")
              .getField("VERSION")
              .get(null));
    } catch (ReflectiveOperationException e) {
      return "unknown";
    }
  }

  double measuredSeconds() {
    return (lastOperationNanos - firstOperationNanos) / 1e9;
  }

  String toJson() {
    BsonDocument counts = new BsonDocument();
    new TreeMap<>(routes).forEach((decision, n) -> counts.put(decision, new BsonInt64(n)));
    BsonDocument summary =
        new BsonDocument("mode", new BsonString(mode))
            .append("firstOperationNanos", new BsonInt64(firstOperationNanos))
            .append("lastOperationNanos", new BsonInt64(lastOperationNanos))
            .append("measuredSeconds", new BsonDouble(measuredSeconds()))
            .append("operations", new BsonInt64(operations))
            .append("errors", new BsonInt64(errors))
            .append("mongoDriver", new BsonString(driverVersion()))
            .append("warmupOperations", new BsonInt64(warmupOperations))
            .append("warmupSeconds", new BsonDouble(warmupSeconds))
            .append("routes", counts);
    if (steady != null) {
      summary.append("steady", BsonBoolean.valueOf(steady));
    }
    if (reached != null && Double.isFinite(reached.error())) {
      summary
          .append("error", new BsonDouble(reached.error()))
          .append("windows", new BsonInt32(reached.windows()));
    }
    if (openLoop != null) {
      summary.append("openLoop", openLoop.toDocument());
    }
    if (client != null) {
      summary.append("client", client.toDocument());
    }
    return summary.toJson(JsonWriterSettings.builder().indent(true).build());
  }

  /** Writes the summary to {@code file}, and the folder it is in if that is not there. */
  void writeTo(Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.writeString(file, toJson() + "\n");
  }
}
