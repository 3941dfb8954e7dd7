package dev.onehop.measure.points;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.ClientRun.Part;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Set;
import org.HdrHistogram.Histogram;

/**
 * Combines the files of several clients into one point: a summary and HdrHistogram logs in the
 * format of a single client.
 */
final class MergedClients {

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * The fields whose merged value is the largest value of all clients. A number that is neither
   * here nor in {@link #SMALLEST} is added.
   */
  private static final Set<String> LARGEST =
      Set.of("lastOperationNanos", "measuredSeconds", "warmupSeconds", "error");

  /** The fields whose merged value is the smallest value of all clients. */
  private static final Set<String> SMALLEST = Set.of("firstOperationNanos", "windows");

  private MergedClients() {}

  /** Returns the folder of a client below the folder of its point. */
  static Path folder(Path point, int index) {
    return point.resolve("client-%02d".formatted(index));
  }

  /**
   * Writes summary and logs into the point's folder.
   *
   * @param point the point's folder
   * @param name the point's name in results
   * @param clients the clients' folders
   * @throws Failure if a client's summary is missing or incomplete, or the point's files can't be
   *     written
   */
  static ClientRun merge(Path point, String name, List<Path> clients) {
    List<Part> merged = new ArrayList<>();
    ObjectNode sum = JSON.createObjectNode();
    LongSummaryStatistics starts = new LongSummaryStatistics();
    for (Path client : clients) {
      JsonNode summary = read(RunSummary.file(client));
      JsonNode share = summary.path("client");
      if (!share.path("index").isInt()) {
        throw Failure.run(client + " has no results of a client", null);
      }
      starts.accept(share.path("startedAtMillis").asLong());
      merged.add(client(client, summary, share));
      add(sum, summary);
    }
    merged.sort(Comparator.comparingInt(Part::index));
    sum.remove("client");
    try {
      HdrLogs.merge(clients, Files.createDirectories(point));
      JSON.writerWithDefaultPrettyPrinter().writeValue(RunSummary.file(point).toFile(), sum);
    } catch (IOException e) {
      throw Failure.run("cannot write " + point + ": " + Failure.reason(e), e);
    }
    return new ClientRun(name, starts.getMax() - starts.getMin(), merged);
  }

  private static Part client(Path folder, JsonNode summary, JsonNode share) {
    Histogram all = new Histogram(3);
    HdrLogs.operations(folder).stream()
        .filter(operation -> !operation.startsWith("READ-MODIFY") && !operation.endsWith("-FAILED"))
        .forEach(operation -> HdrLogs.merged(folder, operation).ifPresent(all::add));
    long operations = summary.path("operations").asLong();
    double seconds = summary.path("measuredSeconds").asDouble();
    return new Part(
        share.path("index").asInt(),
        seconds,
        operations,
        summary.path("errors").asLong(),
        seconds == 0 ? 0 : operations / seconds,
        operations == 0
            ? null
            : (Double) (Math.round(share.path("cpuNanos").asLong() / 100.0 / operations) / 10.0),
        LatencySummary.of(all));
  }

  private static JsonNode read(Path summary) {
    try {
      return JSON.readTree(summary.toFile());
    } catch (IOException e) {
      throw Failure.run("cannot read " + summary + ": " + Failure.reason(e), e);
    }
  }

  /**
   * Adds a summary to the sum: numbers are added, except the fields of {@link #LARGEST} and {@link
   * #SMALLEST}. Texts stay.
   */
  private static void add(ObjectNode sum, JsonNode summary) {
    summary
        .properties()
        .forEach(
            field -> {
              String name = field.getKey();
              JsonNode value = field.getValue();
              JsonNode before = sum.get(name);
              if (value.isObject()) {
                add(before instanceof ObjectNode node ? node : sum.putObject(name), value);
              } else if (before == null) {
                sum.set(name, value);
              } else if (value.isBoolean()) {
                sum.put(name, before.asBoolean() && value.asBoolean());
              } else if (value.isNumber()) {
                BigDecimal one = before.decimalValue();
                BigDecimal other = value.decimalValue();
                boolean smallest = SMALLEST.contains(name);
                boolean largest = LARGEST.contains(name);
                sum.put(
                    name, smallest ? one.min(other) : largest ? one.max(other) : one.add(other));
              }
            });
  }
}
