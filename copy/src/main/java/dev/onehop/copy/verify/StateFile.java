package dev.onehop.copy.verify;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
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
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.json.JsonMode;
import org.bson.json.JsonParseException;
import org.bson.json.JsonWriterSettings;
import org.jspecify.annotations.Nullable;

/**
 * What is done of a verification, in a file of lines that are only ever added: one of what is
 * compared, one of each collection with the bounds of its ranges, one of each range that is done. A
 * last line that a kill has cut is as if it were not there. Locked, so that one process writes it.
 *
 * <p>Thread-safe.
 */
final class StateFile implements AutoCloseable {
  private static final int FORMAT = 1;
  private static final JsonWriterSettings JSON =
      JsonWriterSettings.builder().outputMode(JsonMode.EXTENDED).build();

  private final FileChannel channel;
  private final FileLock lock;

  /** What is known of a collection. */
  private record Known(
      BsonValue from, BsonValue to, List<BsonValue> bounds, Map<Integer, RangeWork.Result> done) {}

  private final Map<String, Known> known = new HashMap<>(); // guarded by this

  private StateFile(FileChannel channel, FileLock lock) {
    this.channel = channel;
    this.lock = lock;
  }

  /**
   * Opens a file, or creates it.
   *
   * @param what is compared, without secrets
   * @throws IllegalArgumentException if it is something else's, of a verification that is finished,
   *     or in use
   * @throws UncheckedIOException if it can't be read or written
   */
  static StateFile open(Path file, BsonDocument what) {
    try {
      FileChannel channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      try {
        FileLock lock = lock(channel, file);
        StateFile state = new StateFile(channel, lock);
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

  private static FileLock lock(FileChannel channel, Path file) throws IOException {
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      throw new IllegalArgumentException(file + " is in use by another verification");
    }
    return lock;
  }

  private void load(Path file, BsonDocument what) throws IOException {
    if (channel.size() > Integer.MAX_VALUE / 8) {
      throw new IllegalArgumentException(file + " is no state of a verification: it is too large");
    }
    ByteBuffer bytes = ByteBuffer.allocate((int) channel.size());
    while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
      // Until all is read.
    }
    byte[] content = bytes.array();
    int begin = 0;
    boolean first = true;
    for (int i = 0; i < bytes.position(); i++) {
      if (content[i] == '\n') {
        String line = new String(content, begin, i - begin, StandardCharsets.UTF_8);
        try {
          take(file, BsonDocument.parse(line), first ? what : null);
        } catch (JsonParseException | org.bson.BsonInvalidOperationException e) {
          throw new IllegalArgumentException(file + " is no state of a verification", e);
        }
        first = false;
        begin = i + 1;
      }
    }
    BsonDocument head =
        new BsonDocument("verification", new BsonInt32(FORMAT)).append("compares", what);
    // Only a beginning of ours, which was cut, may be overwritten.
    if (first
        && !head.toJson(JSON)
            .startsWith(new String(content, 0, bytes.position(), StandardCharsets.UTF_8))) {
      throw new IllegalArgumentException(file + " is no state of a verification");
    }
    channel.truncate(begin);
    channel.position(begin);
    if (first) {
      append(head);
    }
  }

  private synchronized void take(Path file, BsonDocument line, @Nullable BsonDocument what) {
    if (what != null) {
      if (!line.containsKey("verification") || line.getInt32("verification").getValue() != FORMAT) {
        throw new IllegalArgumentException(file + " is no state of a verification");
      }
      if (!line.getDocument("compares").equals(what)) {
        throw new IllegalArgumentException(
            file + " belongs to a verification of other clusters or collections");
      }
    } else if (line.containsKey("finished")) {
      throw new IllegalArgumentException(
          file + " is of a verification that is finished: remove it to compare again");
    } else if (line.containsKey("bounds")) {
      known.put(
          line.getString("collection").getValue(),
          new Known(
              line.get("from", BsonNull.VALUE),
              line.get("to", BsonNull.VALUE),
              List.copyOf(line.getArray("bounds").getValues()),
              new HashMap<>()));
    } else {
      Known of = known.get(line.getString("collection").getValue());
      if (of == null) {
        throw new IllegalArgumentException(file + " is no state of a verification");
      }
      of.done().put(line.getInt32("range").getValue(), result(line));
    }
  }

  private static RangeWork.Result result(BsonDocument line) {
    List<Difference> details = new ArrayList<>();
    for (BsonValue detail : line.getArray("details")) {
      details.add(
          new Difference(
              line.getString("collection").getValue(),
              Difference.Kind.valueOf(
                  detail.asDocument().getString("kind").getValue().toUpperCase(Locale.ROOT)),
              detail.asDocument().getDocument("key")));
    }
    return new RangeWork.Result(
        line.getInt64("compared").getValue(),
        line.getInt64("missing").getValue(),
        line.getInt64("extra").getValue(),
        line.getInt64("different").getValue(),
        0,
        details);
  }

  /** The bounds of a collection's ranges; null if it is not known, or another one by now. */
  synchronized @Nullable List<BsonValue> bounds(CollectionPair pair) {
    Known of = known.get(pair.namespace());
    return of != null
            && of.from().equals(uuid(pair.from().uuid()))
            && of.to().equals(uuid(pair.to().uuid()))
        ? of.bounds()
        : null;
  }

  /** The ranges of it that are done, by number. */
  synchronized Map<Integer, RangeWork.Result> done(CollectionPair pair) {
    Known of = known.get(pair.namespace());
    return of == null ? Map.of() : Map.copyOf(of.done());
  }

  /** A collection is compared from its beginning. */
  void begin(CollectionPair pair, List<BsonValue> bounds) {
    BsonValue from = uuid(pair.from().uuid());
    BsonValue to = uuid(pair.to().uuid());
    append(
        new BsonDocument("collection", new BsonString(pair.namespace()))
            .append("from", from)
            .append("to", to)
            .append("bounds", new BsonArray(bounds)));
    synchronized (this) {
      known.put(pair.namespace(), new Known(from, to, bounds, new HashMap<>()));
    }
  }

  private static BsonValue uuid(@Nullable BsonBinary uuid) {
    return uuid == null ? BsonNull.VALUE : uuid;
  }

  /** A range is done. */
  void done(RangeWork range) {
    RangeWork.Result result = range.result();
    BsonArray details = new BsonArray();
    for (Difference detail : result.details()) {
      details.add(
          new BsonDocument("kind", new BsonString(detail.kind().name().toLowerCase(Locale.ROOT)))
              .append("key", detail.key()));
    }
    append(
        new BsonDocument("collection", new BsonString(range.collection().pair().namespace()))
            .append("range", new BsonInt32(range.number()))
            .append("compared", new BsonInt64(result.compared()))
            .append("missing", new BsonInt64(result.missing()))
            .append("extra", new BsonInt64(result.extra()))
            .append("different", new BsonInt64(result.different()))
            .append("details", details));
  }

  /** All is compared. */
  void finish() {
    append(new BsonDocument("finished", org.bson.BsonBoolean.TRUE));
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
      if (channel.isOpen()) {
        lock.release();
      }
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
