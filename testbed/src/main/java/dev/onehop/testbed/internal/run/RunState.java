package dev.onehop.testbed.internal.run;

import dev.onehop.testbed.internal.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonString;
import org.bson.json.JsonParseException;
import org.bson.json.JsonWriterSettings;
import org.jspecify.annotations.Nullable;

/**
 * The recorded state of a run. Another process reads it to show the run, to stop it, or to clean up
 * after the run was killed.
 *
 * @param topology the topology's name
 * @param phase {@link #STARTING} or {@link #RUNNING}
 * @param url the running cluster's URL; empty while starting
 * @param standInRouters whether the cluster's routers are stand-ins
 * @param owner the process that runs the links and started the servers
 * @param servers the servers started so far
 */
public record RunState(
    String topology,
    String phase,
    String url,
    boolean standInRouters,
    Entry owner,
    List<Entry> servers) {
  /** The phase until the cluster is ready. */
  public static final String STARTING = "starting";

  /** The phase when the cluster is ready. */
  public static final String RUNNING = "running";

  private static final String FILE = "state.json";

  public RunState {
    servers = List.copyOf(servers);
  }

  /**
   * A process of the run. The process id and the start time together identify it, because the
   * system reuses process ids.
   *
   * @param address the server's address; empty for the owner
   * @param startTicks the start time in clock ticks since boot
   */
  public record Entry(String name, String address, long pid, long startTicks) {
    /** Whether this process still runs. */
    public boolean isAlive() {
      OptionalLong started = ProcFs.startTicks(pid);
      return started.isPresent() && started.getAsLong() == startTicks;
    }

    private BsonDocument toDocument() {
      return new BsonDocument("name", new BsonString(name))
          .append("address", new BsonString(address))
          .append("pid", new BsonInt64(pid))
          .append("startTicks", new BsonInt64(startTicks));
    }

    private static Entry of(BsonDocument document) {
      return new Entry(
          document.getString("name").getValue(),
          document.getString("address").getValue(),
          document.getNumber("pid").longValue(),
          document.getNumber("startTicks").longValue());
    }
  }

  /** Writes the state into a run's directory atomically. */
  public void write(Path directory) {
    BsonArray entries = new BsonArray();
    servers.forEach(server -> entries.add(server.toDocument()));
    String json =
        new BsonDocument("topology", new BsonString(topology))
            .append("phase", new BsonString(phase))
            .append("url", new BsonString(url))
            .append("standInRouters", BsonBoolean.valueOf(standInRouters))
            .append("owner", owner.toDocument())
            .append("servers", entries)
            .toJson(JsonWriterSettings.builder().indent(true).build());
    Path partial = directory.resolve(FILE + ".part");
    try {
      Files.writeString(partial, json);
      Files.move(
          partial,
          directory.resolve(FILE),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The state in a run's directory; null if there is no readable state. */
  public static @Nullable RunState read(Path directory) {
    try {
      BsonDocument document = BsonDocument.parse(Files.readString(directory.resolve(FILE)));
      List<Entry> servers = new ArrayList<>();
      document.getArray("servers").forEach(server -> servers.add(Entry.of(server.asDocument())));
      return new RunState(
          document.getString("topology").getValue(),
          document.getString("phase").getValue(),
          document.getString("url").getValue(),
          document.getBoolean("standInRouters", BsonBoolean.FALSE).getValue(),
          Entry.of(document.getDocument("owner")),
          servers);
    } catch (IOException | JsonParseException | BsonInvalidOperationException e) {
      return null;
    }
  }
}
