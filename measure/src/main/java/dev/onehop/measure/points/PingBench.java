package dev.onehop.measure.points;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunResults;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

/** Measures pings through each mongos of a cluster. The example of a bench. */
public final class PingBench
    implements Bench<PingBench.Round, List<PingBench.Line>, PingBench.Results> {

  private static final BsonDocument PING = new BsonDocument("ping", new BsonInt32(1));

  /** Pings that do not count, while sockets are opened and code is compiled. */
  private static final int UNMEASURED = 200;

  private final int rounds;
  private final int pings;

  /**
   * Creates a bench.
   *
   * @param rounds the number of rounds over all mongoses
   * @param pings the number of measured pings of each mongos in a round
   */
  public PingBench(int rounds, int pings) {
    this.rounds = rounds;
    this.pings = pings;
  }

  /** A round over all mongoses, from 1. */
  public record Round(int number) implements Bench.Cell {
    @Override
    public String title() {
      return "round " + number;
    }
  }

  /**
   * The pings of one mongos in one round.
   *
   * @param router as {@code host:port}
   * @param latency in microseconds
   */
  public record Line(int round, String router, LatencySummary latency) {}

  /** The content of {@code results.json}. */
  public record Results(@JsonUnwrapped Envelope envelope, List<Line> pings) implements RunResults {
    @Override
    public int finished() {
      return pings.stream().mapToInt(Line::round).max().orElse(0);
    }
  }

  @Override
  public List<Round> cells() {
    return IntStream.rangeClosed(1, rounds).mapToObj(Round::new).toList();
  }

  @Override
  public void prepare(Session session) {
    // There is nothing to load.
  }

  @Override
  public Duration estimate(Round round, Session session) {
    double meanMillis = session.cluster().meanShardRoundTripMillis() + 0.5;
    int all = session.cluster().routers().size() * (UNMEASURED + pings);
    return Duration.ofMillis((long) (all * meanMillis));
  }

  @Override
  public List<Line> measure(Round round, Session session) throws InterruptedException {
    List<Line> lines = new ArrayList<>();
    for (String router : session.cluster().routers()) {
      session.progress().state(router);
      lines.add(new Line(round.number(), router, ping(session.cluster(), router)));
    }
    return lines;
  }

  private LatencySummary ping(BenchCluster cluster, String router) throws InterruptedException {
    Histogram micros = new Histogram(3);
    MongoClientSettings settings =
        cluster
            .url()
            .settings()
            .applyToClusterSettings(hosts -> hosts.hosts(List.of(new ServerAddress(router))))
            .build();
    try (MongoClient client = MongoClients.create(settings)) {
      MongoDatabase admin = client.getDatabase("admin");
      for (int i = 0; i < UNMEASURED + pings; i++) {
        long begun = System.nanoTime();
        var unused = admin.runCommand(PING);
        if (i >= UNMEASURED) {
          micros.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begun));
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
    }
    return LatencySummary.of(micros);
  }

  @Override
  public @Nullable Results results(List<Measured<Round, List<Line>>> measured, Session session) {
    if (measured.isEmpty()) {
      return null;
    }
    RunFacts.Load load = RunFacts.Load.of(0, "ping", session.cluster().missing(), rounds, 0);
    return new Results(
        session.envelope(rounds, load),
        measured.stream().flatMap(each -> each.point().stream()).toList());
  }

  @Override
  public String table(Results results) {
    StringBuilder text = new StringBuilder();
    text.append(String.format(Locale.ROOT, "%-24s %6s %9s %9s%n", "mongos", "round", "p50", "p99"));
    for (Line line : results.pings()) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-24s %6d %6.2f ms %6.2f ms%n",
              line.router(),
              line.round(),
              line.latency().p50() / 1e3,
              line.latency().p99() / 1e3));
    }
    return text.toString();
  }

  @Override
  public Path page(Path folder, Results results) {
    try {
      return Files.writeString(
          folder.resolve("report.html"),
          "<!doctype html><title>OneHop ping</title><pre>" + table(results) + "</pre>\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
