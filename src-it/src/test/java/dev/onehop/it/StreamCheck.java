package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * What a change stream has given of documents whose field {@code n} grows with each write, held
 * against what was acknowledged. Thread-safe.
 */
final class StreamCheck {
  private final List<String> tokens = new ArrayList<>();
  private final Map<Integer, List<Long>> values = new HashMap<>();
  private final Set<String> distinct = new HashSet<>();
  private final List<String> wrong = new ArrayList<>();

  /** Takes an event in the order in which it was given. */
  synchronized void add(BsonDocument event) {
    BsonValue value =
        event.containsKey("updateDescription")
            ? event.getDocument("updateDescription").getDocument("updatedFields").get("n")
            : event.getDocument("fullDocument").get("n");
    int key = event.getDocument("documentKey").getInt32("_id").getValue();
    String token = event.getDocument("_id").getString("_data").getValue();
    if (!distinct.add(token)) {
      wrong.add("twice: " + token);
    }
    tokens.add(token);
    List<Long> before = values.computeIfAbsent(key, each -> new ArrayList<>());
    long now = value.asNumber().longValue();
    if (!before.isEmpty() && before.get(before.size() - 1) >= now) {
      wrong.add("key " + key + " goes from " + before.get(before.size() - 1) + " to " + now);
    }
    before.add(now);
  }

  synchronized int count() {
    return tokens.size();
  }

  synchronized List<String> tokens() {
    return List.copyOf(tokens);
  }

  /** The highest value of a key, -1 for none. */
  synchronized long last(int key) {
    List<Long> seen = values.get(key);
    return seen == null ? -1 : seen.get(seen.size() - 1);
  }

  /** Every acknowledged write is there, once, and no key goes back. */
  synchronized void check(Map<Integer, List<Long>> acknowledged) {
    assertThat(wrong).isEmpty();
    acknowledged.forEach(
        (key, writes) ->
            assertThat(values.getOrDefault(key, List.of())).as("key %s", key).containsAll(writes));
  }
}
