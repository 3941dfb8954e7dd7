package dev.onehop.it;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.progress.CopyOperation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.bson.BsonTimestamp;

/** Applies events in a separate process, until it is killed or its standard input ends. */
public final class CopyApplyMain {
  private CopyApplyMain() {}

  /** Starts such a process. */
  static Process start(String from, String to, String database, BsonTimestamp start)
      throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            CopyApplyMain.class.getName(),
            from,
            to,
            database,
            Long.toString(start.getValue()))
        .redirectErrorStream(true)
        .redirectOutput(
            Path.of(
                    System.getProperty("java.io.tmpdir"),
                    "copy-apply." + System.nanoTime() + ".log")
                .toFile())
        .start();
  }

  /** Creates an applier of the events of one database. */
  static Applier applier(
      String from,
      MongoClient source,
      MongoClient destination,
      String database,
      BsonTimestamp start) {
    return new Applier(
        new Applier.Settings(
            MongoClientSettings.builder().applyConnectionString(new ConnectionString(from)).build(),
            source,
            destination,
            destination.getDatabase("onehop_copy"),
            database,
            start,
            new Mapping(List.of(database), List.of(), Map.of(), Map.of(), null),
            EnumSet.allOf(CopyOperation.class),
            /* creations= */ true,
            new Applier.Pace(4, 50, Duration.ofSeconds(2))));
  }

  /** Runs until standard input ends. It ends when the parent process ends. */
  public static void main(String[] args) throws IOException {
    MongoClient source = MongoClients.create(args[0]);
    MongoClient destination = MongoClients.create(args[1]);
    var unused =
        applier(args[0], source, destination, args[2], new BsonTimestamp(Long.parseLong(args[3])))
            .run()
            .subscribe(
                nothing -> {},
                failure -> {
                  failure.printStackTrace();
                  System.exit(1);
                });
    while (System.in.read() >= 0) {
      // The content of standard input is ignored.
    }
    System.exit(0);
  }
}
