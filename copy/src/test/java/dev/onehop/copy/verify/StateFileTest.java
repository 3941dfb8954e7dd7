package dev.onehop.copy.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.structure.CollectionSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateFileTest {
  private static final BsonDocument WHAT = BsonDocument.parse("{from: 'a', to: 'b'}");
  private static final List<BsonValue> BOUNDS =
      List.of(new BsonMinKey(), new BsonDouble(0.1), new BsonString("a\n\u00e9"));

  private final CollectionPair pair = pair(new UUID(1, 2));
  private Path file;

  @BeforeEach
  void name(@TempDir Path folder) {
    file = folder.resolve("state");
  }

  private static CollectionPair pair(UUID uuid) {
    CollectionSpec info =
        new CollectionSpec(
            "d.c",
            "d.c",
            CollectionSpec.Kind.COLLECTION,
            new BsonBinary(uuid),
            new BsonDocument(),
            List.of(),
            null);
    return new CollectionPair(info, info, null);
  }

  @Test
  void readsStoredBounds() {
    try (StateFile state = StateFile.open(file, WHAT)) {
      assertThat(state.take(pair)).isNull();
      state.begin(pair, BOUNDS);
    }
    assertThat(stored().bounds()).isEqualTo(BOUNDS);
    assertThat(stored().done()).isEmpty();
  }

  @Test
  void readsBoundsOfEveryTypeUnchanged() {
    List<BsonValue> bounds =
        BsonDocument.parse(
                """
                {all: [{$minKey: 1}, null, {$numberInt: '1'}, {$numberLong: '1'}, {$numberDouble: 'NaN'},
                 {$numberDouble: '-Infinity'}, {$numberDecimal: '1.250'}, 'text', {$symbol: 's'},
                 {a: {$numberInt: '1'}, $b: 'x'}, {$binary: {base64: 'AAE=', subType: '04'}},
                 {$oid: '800000000000000000000000'}, true, {$date: {$numberLong: '-1'}},
                 {$timestamp: {t: 4294967295, i: 1}}, {$code: 'f()'},
                 {$code: 'g()', $scope: {s: {$numberLong: '2'}}}]}
                """)
            .getArray("all")
            .getValues();
    try (StateFile state = StateFile.open(file, WHAT)) {
      state.begin(pair, bounds);
    }
    assertThat(stored().bounds()).isEqualTo(bounds);
  }

  private StateFile.Known stored() {
    try (StateFile state = StateFile.open(file, WHAT)) {
      return Objects.requireNonNull(state.take(pair));
    }
  }

  /**
   * Reads the state file of an earlier version of the program. Later versions must be able to
   * continue it without a change.
   */
  @Test
  void resumesFileOfEarlierVersion() throws IOException {
    try (InputStream stored =
        StateFileTest.class.getResourceAsStream("/dev/onehop/copy/verify-format-1.jsonl")) {
      Files.copy(Objects.requireNonNull(stored), file);
    }
    String before = Files.readString(file);
    StateFile.Known known = stored();
    assertThat(known.bounds()).isEqualTo(BOUNDS);
    assertThat(known.done())
        .isEqualTo(
            Map.of(
                1,
                new Rounds.Result(
                    1000,
                    1,
                    2,
                    3,
                    0,
                    List.of(
                        new Difference(
                            "d.c", Difference.Kind.MISSING, BsonDocument.parse("{_id: 7}")),
                        new Difference(
                            "d.c",
                            Difference.Kind.DIFFERENT,
                            BsonDocument.parse("{_id: {$numberLong: '8'}}"))))));
    assertThat(file).hasContent(before);
    Files.delete(file);
    try (StateFile state = StateFile.open(file, WHAT)) {
      state.begin(pair, BOUNDS);
    }
    assertThat(before).startsWith(Files.readString(file));
  }

  /**
   * If a thread is interrupted during a write, Java closes the file. The failure counts as an
   * interruption.
   */
  @Test
  void interruptionDuringWriteIsInterruption() {
    StateFile state = StateFile.open(file, WHAT);
    Thread.currentThread().interrupt();
    Throwable failure = catchThrowable(() -> state.begin(pair, BOUNDS));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(Waits.isInterruption(failure)).isTrue();
    state.close();
  }

  @Test
  void ignoresStateOfRecreatedCollection() {
    try (StateFile state = StateFile.open(file, WHAT)) {
      state.begin(pair, BOUNDS);
    }
    try (StateFile state = StateFile.open(file, WHAT)) {
      assertThat(state.take(pair(new UUID(3, 4)))).isNull();
    }
  }

  @Test
  void ignoresIncompleteLine() throws IOException {
    try (StateFile state = StateFile.open(file, WHAT)) {
      state.begin(pair, BOUNDS);
    }
    String whole = Files.readString(file);
    for (int length = 0; length < whole.length(); length++) {
      Files.writeString(file, whole.substring(0, length));
      boolean complete = whole.substring(0, length).chars().filter(c -> c == '\n').count() == 2;
      try (StateFile state = StateFile.open(file, WHAT)) {
        StateFile.Known known = state.take(pair);
        assertThat(known == null ? null : known.bounds()).isEqualTo(complete ? BOUNDS : null);
        state.begin(pair, BOUNDS);
      }
      assertThat(stored().bounds()).isEqualTo(BOUNDS);
    }
  }

  @Test
  void rejectsForeignFileUnchanged() throws IOException {
    try (StateFile state = StateFile.open(file, WHAT)) {
      state.begin(pair, BOUNDS);
      assertThatThrownBy(() -> StateFile.open(file, WHAT)).hasMessageContaining("in use");
    }
    assertThatThrownBy(() -> StateFile.open(file, new BsonDocument()))
        .hasMessageContaining("other clusters");
    for (String content : List.of("text", "{\"a\": 1}", "{\"a\": 1}\n", "text\n")) {
      Files.writeString(file, content);
      assertThatThrownBy(() -> StateFile.open(file, WHAT))
          .hasMessageContaining("is not the state file");
      assertThat(file).hasContent(content);
    }
  }

  @Test
  void rejectsAnotherFormatUnchanged() throws IOException {
    String later = "{\"verification\": {\"$numberInt\": \"2\"}, \"compares\": {}, \"more\": 1}\n";
    Files.writeString(file, later + "{\"of\": \"that format\"}\n");
    assertThatThrownBy(() -> StateFile.open(file, WHAT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            file
                + " has format 2, and this version reads format 1: continue with the version that"
                + " wrote it, or compare again with another file");
    assertThat(file).content().startsWith(later);
  }

  @Test
  void rejectsFinishedFile() throws IOException {
    try (StateFile state = StateFile.open(file, WHAT)) {
      state.finish();
    }
    assertThatThrownBy(() -> StateFile.open(file, WHAT)).hasMessageContaining("finished");
    Files.writeString(file, "more", StandardOpenOption.APPEND);
    assertThatThrownBy(() -> StateFile.open(file, WHAT)).hasMessageContaining("finished");
  }
}
