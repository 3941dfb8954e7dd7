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
 * The numbers of a run, in the format of the file {@code onehop.summary}.
 *
 * <p>YCSB's own throughput counts connecting as part of the run. The measured time here lasts from
 * the start of the first measured operation to the end of the last operation, over all threads.
 *
 * @param mode the binding's name
 * @param firstOperationNanos {@link System#nanoTime} at the first operation's start; 0 without
 *     operations
 * @param lastOperationNanos {@link System#nanoTime} at the last operation's end; 0 without
 *     operations
 * @param operations calls to the binding; a read-modify-write is two calls
 * @param errors calls without YCSB's status OK, and every document of a batch that could not be
 *     written
 * @param warmupOperations unmeasured operations before the first operation
 * @param warmupSeconds the duration of the warm-up in seconds
 * @param steady whether the warm-up's rate was steady at its end; null for a warm-up of fixed
 *     length
 * @param routes operations by routing decision, warm-up included; empty without routing
 * @param reached the error of the throughput; null if the run has no limit of this error
 * @param openLoop the intended operations; null in a closed loop
 * @param client the client among several; null if it is the only client
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
   * @param index the client's number, from 0
   * @param of the number of clients of the run
   * @param startedAtMillis the start in milliseconds since 1970, by the clock of the client's
   *     machine
   * @param cpuNanos the processor time of the client's process from the start to the end of the
   *     last operation
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
   * Operations with intended times.
   *
   * @param rate operations per second
   * @param operations the number of intended operations
   * @param notIssued the number of operations that were not issued by the end
   * @param unanswered the number of issued operations without a reply at the end
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
   * The driver's version at run time. Reads the driver's constant by reflection, because the
   * compiler would copy the value of the driver that is used at compile time.
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

  /** Writes the summary to {@code file}, and creates its folder if necessary. */
  void writeTo(Path file) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.writeString(file, toJson() + "\n");
  }
}
