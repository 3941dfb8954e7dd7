package dev.onehop.copy.verify;

import dev.onehop.copy.verify.Rounds.Result;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.json.JsonMode;
import org.bson.json.JsonParseException;
import org.bson.json.JsonWriterSettings;
import org.jspecify.annotations.Nullable;

/**
 * The record of a verification's finished ranges in a file. Lines are only added to the file. The
 * first line has the clusters and the settings of the comparison. Each collection has a line with
 * the bounds of its ranges, and each finished range has a line with its result. If the process is
 * killed while it writes a line, that incomplete last line is ignored later. A file lock ensures
 * that only one process writes the file.
 *
 * <p>Thread-safe.
 */
final class StateFile implements AutoCloseable {
  private static final int FORMAT = 1;
  private static final int LONGEST_HEAD = 16 << 20;
  private static final JsonWriterSettings JSON =
      JsonWriterSettings.builder().outputMode(JsonMode.EXTENDED).build();

  private final FileChannel channel;

  /**
   * The record of a collection.
   *
   * @param pair the name of the collection, and its UUIDs at the source and at the destination
   * @param bounds the bounds of the collection's ranges
   * @param done the results of the finished ranges, by number
   */
  record Known(BsonDocument pair, List<BsonValue> bounds, Map<Integer, Result> done) {}

  private final Map<String, Known> known = new HashMap<>(); // guarded by this

  private StateFile(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Opens a file, or creates it.
   *
   * @param what the clusters and the settings of the comparison, without secrets
   * @throws IllegalArgumentException if the file is not a state file, belongs to another or to a
   *     finished verification, or is in use
   * @throws UncheckedIOException if the file can't be read or written
   */
  static StateFile open(Path file, BsonDocument what) {
    try {
      FileChannel channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      try {
        lock(channel, file);
        StateFile state = new StateFile(channel);
        state.load(file, what);
        return state;
      } catch (IOException | RuntimeException e) {
        channel.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Locks the file until the channel is closed. */
  private static void lock(FileChannel channel, Path file) throws IOException {
    try {
      if (channel.tryLock() != null) {
        return;
      }
    } catch (OverlappingFileLockException ofThisProcess) {
      // Another verification of this process has the lock.
    }
    throw new IllegalArgumentException(file + " is in use by another verification");
  }

  private void load(Path file, BsonDocument what) throws IOException {
    BsonDocument head =
        new BsonDocument("verification", new BsonInt32(FORMAT)).append("compares", what);
    // The file is read line by line, because it may have many lines.
    InputStream in = new BufferedInputStream(Channels.newInputStream(channel));
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    long end = 0;
    for (int next = in.read(); next >= 0; next = in.read()) {
      if (next != '\n') {
        line.write(next);
        if (end == 0 && line.size() > LONGEST_HEAD) {
          break;
        }
        continue;
      }
      try {
        take(
            file,
            BsonDocument.parse(line.toString(StandardCharsets.UTF_8)),
            end == 0 ? what : null);
      } catch (JsonParseException | BsonInvalidOperationException e) {
        throw new IllegalArgumentException(file + " is not the state file of a verification", e);
      }
      end += line.size() + 1;
      line.reset();
    }
    // If the file has no complete line, it is overwritten only if its content is the beginning of
    // this first line.
    if (end == 0 && !head.toJson(JSON).startsWith(line.toString(StandardCharsets.UTF_8))) {
      throw new IllegalArgumentException(file + " is not the state file of a verification");
    }
    channel.truncate(end);
    channel.position(end);
    if (end == 0) {
      append(head);
    }
  }

  private synchronized void take(Path file, BsonDocument line, @Nullable BsonDocument what) {
    if (what != null) {
      int format = line.getInt32("verification").getValue();
      if (format != FORMAT) {
        throw new IllegalArgumentException(
            "%s has format %d, and this version reads format %d: continue with the version that wrote it, or compare again with another file"
                .formatted(file, format, FORMAT));
      }
      if (!line.getDocument("compares").equals(what)) {
        throw new IllegalArgumentException(
            file + " belongs to a verification of other clusters or collections");
      }
    } else if (line.containsKey("finished")) {
      throw new IllegalArgumentException(
          file + " belongs to a finished verification: remove the file to compare again");
    } else if (line.containsKey("bounds")) {
      List<BsonValue> bounds = List.copyOf(line.getArray("bounds").getValues());
      line.remove("bounds");
      known.put(line.getString("collection").getValue(), new Known(line, bounds, new HashMap<>()));
    } else {
      Known of = known.get(line.getString("collection").getValue());
      if (of == null) {
        throw new IllegalArgumentException(file + " is not the state file of a verification");
      }
      of.done().put(line.getInt32("range").getValue(), result(line));
    }
  }

  private static Result result(BsonDocument line) {
    List<Difference> details = new ArrayList<>();
    for (BsonValue detail : line.getArray("details")) {
      details.add(
          new Difference(
              line.getString("collection").getValue(),
              Difference.Kind.valueOf(
                  detail.asDocument().getString("kind").getValue().toUpperCase(Locale.ROOT)),
              detail.asDocument().getDocument("key")));
    }
    return new Result(
        line.getInt64("compared").getValue(),
        line.getInt64("missing").getValue(),
        line.getInt64("extra").getValue(),
        line.getInt64("different").getValue(),
        0,
        details);
  }

  /**
   * Returns the record of two collections, and then forgets it. The result is null if there is no
   * record, or if it has other UUIDs.
   */
  synchronized @Nullable Known take(CollectionPair pair) {
    Known of = known.remove(pair.namespace());
    return of != null && of.pair().equals(document(pair)) ? of : null;
  }

  /** Records the ranges of a collection whose comparison begins. */
  void begin(CollectionPair pair, List<BsonValue> bounds) {
    append(document(pair).append("bounds", new BsonArray(bounds)));
  }

  private static BsonDocument document(CollectionPair pair) {
    return new BsonDocument("collection", new BsonString(pair.namespace()))
        .append("from", uuid(pair.from().uuid()))
        .append("to", uuid(pair.to().uuid()));
  }

  private static BsonValue uuid(@Nullable BsonBinary uuid) {
    return uuid == null ? BsonNull.VALUE : uuid;
  }

  /** Records a finished range. */
  void done(CollectionPair pair, int range, Result result) {
    BsonArray details = new BsonArray();
    for (Difference detail : result.details()) {
      details.add(
          new BsonDocument("kind", new BsonString(detail.kind().name().toLowerCase(Locale.ROOT)))
              .append("key", detail.key()));
    }
    append(
        new BsonDocument("collection", new BsonString(pair.namespace()))
            .append("range", new BsonInt32(range))
            .append("compared", new BsonInt64(result.compared()))
            .append("missing", new BsonInt64(result.missing()))
            .append("extra", new BsonInt64(result.extra()))
            .append("different", new BsonInt64(result.different()))
            .append("details", details));
  }

  /** Records the end of the verification. */
  void finish() {
    append(new BsonDocument("finished", BsonBoolean.TRUE));
  }

  private synchronized void append(BsonDocument line) {
    ByteBuffer bytes = ByteBuffer.wrap((line.toJson(JSON) + "\n").getBytes(StandardCharsets.UTF_8));
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
