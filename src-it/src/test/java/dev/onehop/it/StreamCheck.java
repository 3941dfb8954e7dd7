package dev.onehop.it;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Compares the events of {@link VersionedWrites} with the acknowledged writes: the stream must have
 * each write of a document once, in order. A reader that restarts at a stored checkpoint may get
 * again the events after the checkpoint, in the same order, but no earlier event.
 *
 * <p>Thread-safe.
 */
final class StreamCheck {
  private static final int EXAMPLES = 20;

  private final boolean total;
  private final Map<Integer, Key> keys = new HashMap<>();
  private final List<String> wrong = new ArrayList<>();
  private @Nullable Checkpoint checkpoint;
  private String last = "";
  private int restarts;
  private long count;
  private long again;

  private record Seen(String shard, String token, int version) {}

  /** A document's events. */
  private static final class Key {
    // The events that arrived after the last stored checkpoint.
    private final Deque<Seen> kept = new ArrayDeque<>();
    private int version;
    // The version of the last event that has arrived since the restart.
    private int at;
    private int restarts;
  }

  /**
   * @param total whether all events are in the order of their tokens, not only the events of one
   *     document
   */
  StreamCheck(boolean total) {
    this.total = total;
  }

  void add(StreamEvent.Change change) {
    add(change.shard(), change.token(), key(change.document()), version(change.document()));
  }

  static int key(BsonDocument event) {
    return event.getDocument("documentKey").getInt32("_id").getValue();
  }

  /** The version in an event, 0 for a delete. */
  static int version(BsonDocument event) {
    return switch (event.getString("operationType").getValue()) {
      case "delete" -> 0;
      case "update" ->
          event
              .getDocument("updateDescription")
              .getDocument("updatedFields")
              .getNumber("n")
              .intValue();
      default -> event.getDocument("fullDocument").getNumber("n").intValue();
    };
  }

  /**
   * Adds the next event.
   *
   * @param reported the version in the event, 0 for none
   */
  synchronized void add(String shard, String token, int key, int reported) {
    count++;
    if (total && token.compareTo(last) <= 0) {
      wrong("%s comes after %s".formatted(token, last));
    }
    last = token;
    Key seen = keys.computeIfAbsent(key, each -> new Key());
    boolean first = seen.restarts != restarts;
    seen.restarts = restarts;
    Seen before =
        seen.kept.stream().filter(each -> each.token().equals(token)).findFirst().orElse(null);
    int version;
    if (before != null) {
      again++;
      version = before.version();
      if (restarts == 0 || (!first && version != seen.at + 1)) {
        wrong("document %d: write %d comes again after %d".formatted(key, version, seen.at));
      }
    } else {
      version = reported == 0 ? seen.version + 1 : reported;
      int expected = (first ? seen.version : seen.at) + 1;
      if (version != expected || version != seen.version + 1) {
        wrong(
            "document %d: write %d comes after %d, of %d"
                .formatted(key, version, expected - 1, seen.version));
      }
      seen.version = Math.max(seen.version, version);
      seen.kept.add(new Seen(shard, token, version));
    }
    seen.at = version;
    if (checkpoint != null && isCovered(checkpoint, shard, token)) {
      wrong("document %d: write %d comes again, or late: %s".formatted(key, version, token));
    }
  }

  private static boolean isCovered(Checkpoint checkpoint, String shard, String token) {
    return token.compareTo(checkpoint.token(shard)) <= 0;
  }

  /** Adds a checkpoint that the reader has stored after processing all earlier events. */
  synchronized void stored(Checkpoint reached) {
    if (checkpoint != null && reached.low().compareTo(checkpoint.low()) < 0) {
      wrong("the place goes back from %s to %s".formatted(checkpoint, reached));
    }
    checkpoint = reached;
    for (Key key : keys.values()) {
      key.kept.removeIf(each -> isCovered(reached, each.shard(), each.token()));
    }
  }

  /** Notes that the reader has restarted at its stored checkpoint. */
  synchronized void restarted(Checkpoint from) {
    stored(from);
    restarts++;
    last = "";
  }

  private void wrong(String what) {
    if (wrong.size() < EXAMPLES) {
      wrong.add(what);
    }
  }

  /** The number of events. */
  synchronized long count() {
    return count;
  }

  /**
   * The number of events that came again after a restart, because the reader had not acknowledged
   * them.
   */
  synchronized long again() {
    return again;
  }

  /** The first few errors in the events. */
  synchronized List<String> wrong() {
    return List.copyOf(wrong);
  }

  /**
   * The documents with missing or additional events.
   *
   * @param written all writes
   */
  synchronized List<String> differences(Map<Integer, VersionedWrites.Written> written) {
    List<String> differences = new ArrayList<>();
    written.forEach(
        (key, writes) -> {
          Key seen = keys.get(key);
          int version = seen == null ? 0 : seen.version;
          int more = version - writes.acknowledged();
          if (more < 0 || more > (writes.uncertain() ? 1 : 0)) {
            differences.add("document %d: %d writes given, of %s".formatted(key, version, writes));
          }
        });
    keys.keySet().stream()
        .filter(key -> !written.containsKey(key))
        .forEach(key -> differences.add("document " + key + " was never written"));
    return differences.size() > EXAMPLES ? differences.subList(0, EXAMPLES) : differences;
  }
}
