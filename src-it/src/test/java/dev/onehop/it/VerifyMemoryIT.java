package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the memory that a verification needs for some data and for ten times as much. Each runs
 * in a separate process.
 *
 * <p>{@code -Donehop.it.verify.megabytes=100 -Donehop.it.verify.heap=256m} compares 100 and 1,000
 * MB on each side, with the command's usual heap. {@code -Donehop.it.verify.document=100} has many
 * documents of 100 bytes instead of 10 KB. By default, data and heap are small.
 */
@Tag("nightly")
@Tag("alone")
class VerifyMemoryIT {
  private static final int MEGABYTES = Integer.getInteger("onehop.it.verify.megabytes", 8);
  private static final String HEAP = System.getProperty("onehop.it.verify.heap", "64m");
  private static final int DOCUMENT = Integer.getInteger("onehop.it.verify.document", 10_000);
  private static final int LARGE = 12_000_000;

  @TempDir private Path folder;

  /** What a run was. */
  private record Run(int exitCode, JsonNode result, long peakKilobytes, int heapMegabytes) {}

  @Test
  void memoryDoesNotGrowWithData() throws Exception {
    try (RealMongod server = RealMongod.start();
        MongoClient client = MongoClients.create(server.url())) {
      fill(client, "small", MEGABYTES);
      fill(client, "large", 10 * MEGABYTES);
      Run once = run(server, "small");
      Run tenTimes = run(server, "large");
      System.err.printf(
          "heap %s: peak %d MB, %d MB after a collection, for %d MB; %d and %d MB for %d MB%n",
          HEAP,
          once.peakKilobytes() / 1024,
          once.heapMegabytes(),
          MEGABYTES,
          tenTimes.peakKilobytes() / 1024,
          tenTimes.heapMegabytes(),
          10 * MEGABYTES);
      assertThat(once.exitCode()).isEqualTo(3);
      assertThat(tenTimes.exitCode()).isEqualTo(3);
      for (Run run : List.of(once, tenTimes)) {
        assertThat(run.result().path("missing").asInt()).isOne();
        assertThat(run.result().path("different").asInt()).isOne();
        assertThat(run.result().path("extra").asInt()).isZero();
      }
      assertThat(tenTimes.result().path("compared").asLong())
          .isEqualTo(10 * once.result().path("compared").asLong());
      // The peaks may be similar, because the JVM may use its whole heap in both runs. This heap is
      // too small for ten times the data.
      assertThat(tenTimes.peakKilobytes()).isLessThan(once.peakKilobytes() * 3 / 2);
      // After a garbage collection, only the batches of the running comparisons are in use.
      assertThat(tenTimes.heapMegabytes()).isLessThan(once.heapMegabytes() + 16);
    }
  }

  @Test
  void comparesDocumentsOfMaximumSize() throws Exception {
    try (RealMongod server = RealMongod.start();
        MongoClient client = MongoClients.create(server.url())) {
      MongoCollection<Document> collection = client.getDatabase("huge").getCollection("c");
      for (int i = 0; i < 12; i++) {
        var unused =
            collection.insertOne(new Document("_id", i).append("filler", "x".repeat(LARGE)));
      }
      copy(client, "huge");
      var unusedChanged =
          client
              .getDatabase("huge2")
              .getCollection("c")
              .updateOne(new Document("_id", 7), new Document("$set", new Document("n", 1)));
      Run run = run(server, "huge", "256m");
      assertThat(run.exitCode()).isEqualTo(3);
      assertThat(run.result().path("compared").asInt()).isEqualTo(12);
      assertThat(run.result().path("different").asInt()).isOne();
    }
  }

  /** Creates a collection, and a copy in which one document is missing and one is different. */
  private static void fill(MongoClient client, String name, int megabytes) {
    MongoCollection<Document> collection = client.getDatabase(name).getCollection("c");
    byte[] filler = new byte[DOCUMENT];
    new Random(1).nextBytes(filler);
    int count = megabytes * 1_000_000 / DOCUMENT;
    for (int i = 0; i < count; ) {
      List<Document> batch = new ArrayList<>();
      for (; batch.size() < 500 && i < count; i++) {
        batch.add(new Document("_id", "user" + i).append("n", i).append("filler", filler));
      }
      var unused = collection.insertMany(batch);
    }
    copy(client, name);
    MongoCollection<Document> copy = client.getDatabase(name + "2").getCollection("c");
    assertThat(copy.deleteOne(new Document("_id", "user17")).getDeletedCount()).isOne();
    assertThat(
            copy.updateOne(
                    new Document("_id", "user18"), new Document("$set", new Document("n", 18L)))
                .getModifiedCount())
        .isOne();
  }

  private static void copy(MongoClient client, String name) {
    client
        .getDatabase(name)
        .getCollection("c")
        .aggregate(List.of(Aggregates.out(name + "2", "c")))
        .toCollection();
  }

  private Run run(RealMongod server, String database) throws Exception {
    return run(server, database, HEAP);
  }

  private Run run(RealMongod server, String database, String heap)
      throws IOException, InterruptedException {
    Path out = folder.resolve(database + ".json");
    Path err = folder.resolve(database + ".err");
    Path gc = folder.resolve(database + ".gc");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-Xlog:gc:file=" + gc,
                "-cp",
                System.getProperty("java.class.path"),
                "dev.onehop.cli.OneHopCommand",
                "verify",
                "--from",
                server.url(),
                "--to",
                server.url(),
                "--include",
                database,
                "--rename",
                database + "=" + database + "2",
                "--settle",
                "1s",
                "--json")
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    long peak = 0;
    try {
      while (!process.waitFor(20, TimeUnit.MILLISECONDS)) {
        peak = Math.max(peak, peak(process.pid()));
      }
    } finally {
      process.destroyForcibly();
    }
    assertThat(out).as(Files.readString(err)).isNotEmptyFile();
    return new Run(process.exitValue(), new ObjectMapper().readTree(out.toFile()), peak, inUse(gc));
  }

  /** The median of the memory in use after each garbage collection, in megabytes. */
  private static int inUse(Path log) throws IOException {
    List<Integer> after =
        Pattern.compile("->(\\d+)M")
            .matcher(Files.readString(log))
            .results()
            .map(found -> Integer.valueOf(found.group(1)))
            .sorted()
            .toList();
    return after.isEmpty() ? 0 : after.get(after.size() / 2);
  }

  /** The peak memory of a process in kilobytes; 0 if it has ended. */
  private static long peak(long pid) {
    try {
      return Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
          .filter(line -> line.startsWith("VmHWM:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }
}
