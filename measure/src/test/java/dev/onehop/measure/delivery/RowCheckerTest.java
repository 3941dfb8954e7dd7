package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.delivery.RowChecker.Verdict;
import dev.onehop.resync.ClusterUrl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The checker finds faults that the tests insert into a correct stream. */
class RowCheckerTest {

  private static final int RUN = 3;
  private static final int ROWS = 5_000;

  @TempDir private Path folder;

  private final RowSet written = new RowSet();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /** The events of every row. A second version of every tenth row follows 100 rows later. */
  private List<RawBsonDocument> events() {
    List<RawBsonDocument> events = new ArrayList<>();
    for (int row = 0; row < ROWS; row++) {
      add(events, row, 1);
      if (row >= 100 && row % 10 == 0) {
        add(events, row - 100, 2);
      }
    }
    return events;
  }

  private void add(List<RawBsonDocument> events, int row, int version) {
    written.add(row, version);
    events.add(SampleEvents.of(SampleEvents.row(RUN, row, version, 0), events.size(), 0));
  }

  private static ArrivalLog log(int channels, int process, int processes, boolean total) {
    ConsumePlan.Point point =
        new ConsumePlan.Point("live", StreamPath.DIRECT, total, channels, processes);
    ClusterUrl url = ClusterUrl.open("mongodb://a/");
    return new ConsumerMain.Task(url, RUN, point, process, 0, Path.of("")).log(new Lags());
  }

  /** The verdict on events with a fault. The events are split and consumed as in a run. */
  private Verdict verdict(int channels, boolean total, Consumer<List<RawBsonDocument>> fault)
      throws Exception {
    List<RawBsonDocument> events = events();
    fault.accept(events);
    ArrivalLog log = log(channels, 0, 1, total);
    try (ChannelSplit split = new ChannelSplit(channels, log, failures::add)) {
      for (int from = 0; from < events.size(); from += 700) {
        split.take(events.subList(from, Math.min(from + 700, events.size())));
      }
    }
    assertThat(failures).isEmpty();
    RowChecker checker = log.checker();
    Verdict verdict =
        Verdict.of(written, List.of(checker.seen()), checker.doubled(), checker.outOfOrder());
    assertThat(verdict.rows()).isEqualTo(ROWS + ROWS / 10 - 10);
    return verdict;
  }

  private static boolean isGood(Verdict verdict) {
    return verdict.equals(new Verdict(verdict.rows(), 0, 0, 0, 0));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 128})
  void correctStreamHasNoFaults(int channels) throws Exception {
    for (boolean total : new boolean[] {false, true}) {
      Verdict verdict = verdict(channels, total, events -> {});
      assertThat(verdict).isEqualTo(new Verdict(verdict.rows(), 0, 0, 0, 0));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8})
  void countsDroppedEventAsLost(int channels) throws Exception {
    Verdict verdict = verdict(channels, false, events -> events.remove(1_234));
    assertThat(verdict).isEqualTo(new Verdict(verdict.rows(), 1, 0, 0, 0));
    assertThat(isGood(verdict)).isFalse();
  }

  @Test
  void countsMissingLastEventsAsLost() throws Exception {
    Verdict verdict =
        verdict(4, false, events -> events.subList(events.size() - 7, events.size()).clear());
    assertThat(verdict.lost()).isEqualTo(7);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8})
  void countsDoubledEvent(int channels) throws Exception {
    Verdict near = verdict(channels, false, events -> events.add(1_235, events.get(1_234)));
    assertThat(near).isEqualTo(new Verdict(near.rows(), 0, 1, 0, 0));
    Verdict far = verdict(channels, false, events -> events.add(events.get(7)));
    assertThat(far).isEqualTo(new Verdict(far.rows(), 0, 1, 0, 0));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8})
  void countsSwappedVersionsOfRowAsOutOfOrder(int channels) throws Exception {
    Verdict verdict =
        verdict(
            channels,
            false,
            events -> Collections.swap(events, place(events, 400, 1), place(events, 400, 2)));
    assertThat(verdict).isEqualTo(new Verdict(verdict.rows(), 0, 0, 1, 0));
  }

  @Test
  void swappedRowsAreOutOfOrderOnlyInTotalOrder() throws Exception {
    Consumer<List<RawBsonDocument>> swap =
        events -> Collections.swap(events, place(events, 401, 1), place(events, 402, 1));

    assertThat(isGood(verdict(1, false, swap))).as("by key").isTrue();
    assertThat(verdict(1, true, swap).outOfOrder()).as("of all").isPositive();
  }

  @Test
  void countsRowThatChangesChannelAsOutOfOrder() {
    RowChecker checker = new RowChecker();
    checker.take(0, 77, 1);
    checker.take(1, 77, 2);
    assertThat(checker.outOfOrder()).isOne();
  }

  @Test
  void countsUnacknowledgedRowAsUnexpected() throws Exception {
    Verdict verdict =
        verdict(
            4,
            false,
            events -> events.add(SampleEvents.of(SampleEvents.row(RUN, ROWS, 1, 0), 9_999_999, 0)));
    assertThat(verdict).isEqualTo(new Verdict(verdict.rows(), 0, 0, 0, 1));
  }

  @Test
  void ignoresRowsOfOtherRuns() throws Exception {
    Verdict verdict =
        verdict(
            4,
            false,
            events ->
                events.add(SampleEvents.of(SampleEvents.row(RUN + 1, 5, 1, 0), 9_999_999, 0)));
    assertThat(isGood(verdict)).isTrue();
  }

  @Test
  void twoProcessesTogetherReceiveAllRowsOnce() throws Exception {
    List<RawBsonDocument> events = events();
    List<RowSet> seen = new ArrayList<>();
    for (int process = 0; process < 2; process++) {
      ArrivalLog log = log(8, process, 2, false);
      try (ChannelSplit split = new ChannelSplit(8, log, failures::add)) {
        split.take(events.subList(0, 3_000));
        split.take(events.subList(3_000, events.size()));
      }
      assertThat(log.rows()).isBetween(events.size() * 4L / 10, events.size() * 6L / 10);
      Path its = Files.createDirectories(folder.resolve("consumer-" + process));
      log.checker().seen().write(its.resolve(ConsumerMain.ROWS));
      seen.add(RowSet.read(its.resolve(ConsumerMain.ROWS)));
    }

    assertThat(isGood(Verdict.of(written, seen, 0, 0))).isTrue();
    assertThat(Verdict.of(written, seen.subList(0, 1), 0, 0).lost()).isPositive();
    assertThat(Verdict.of(written, List.of(seen.get(0), seen.get(1), seen.get(1)), 0, 0).doubled())
        .isPositive();
  }

  @Test
  void findsSingleFaultAtRandomPlace() throws Exception {
    Random random = new Random(16);
    for (int i = 0; i < 20; i++) {
      int at = random.nextInt(ROWS);
      assertThat(verdict(16, true, events -> events.remove(at)).lost()).isOne();
      assertThat(verdict(16, true, events -> events.add(at, events.get(at))).doubled()).isOne();
    }
  }

  private static int place(List<RawBsonDocument> events, long row, int version) {
    for (int i = 0; i < events.size(); i++) {
      Row event = Row.ofEvent(events.get(i));
      if (event != null && event.number() == row && event.version() == version) {
        return i;
      }
    }
    throw new IllegalArgumentException("no event of row " + row);
  }

  /** The verdict on the rows of a snapshot, with their versions, and on the events after it. */
  private static Verdict joined(long[][] snapshot, long[][] events, long[][] acknowledged) {
    RowChecker checker = new RowChecker();
    RowSet rows = new RowSet();
    for (long[] row : snapshot) {
      checker.snapshot(row[0], (int) row[1]);
    }
    for (long[] event : events) {
      checker.take(0, event[0], (int) event[1]);
    }
    for (long[] last : acknowledged) {
      for (int version = 1; version <= last[1]; version++) {
        rows.add(last[0], version);
      }
    }
    assertThat(checker.read()).isEqualTo(snapshot.length);
    return checker.verdict(rows);
  }

  @Test
  void snapshotAndLaterEventsAreComplete() {
    // Row 2 was inserted after the snapshot, so only the events have it.
    long[][] events = {{0, 4}, {0, 5}, {2, 1}, {2, 2}};
    long[][] written = {{0, 5}, {1, 1}, {2, 2}};

    assertThat(joined(new long[][] {{0, 3}, {1, 1}}, events, written))
        .isEqualTo(new Verdict(8, 0, 0, 0, 0));
  }

  @Test
  void countsGapAfterSnapshotAsLost() {
    assertThat(joined(new long[][] {{0, 3}}, new long[][] {{0, 5}}, new long[][] {{0, 5}}).lost())
        .isOne();
  }

  @Test
  void countsOverlapWithSnapshotAsDoubled() {
    Verdict verdict =
        joined(new long[][] {{0, 3}}, new long[][] {{0, 3}, {0, 4}}, new long[][] {{0, 4}});

    assertThat(verdict).isEqualTo(new Verdict(4, 0, 1, 0, 0));
  }

  @Test
  void countsMissingChangesAfterSnapshotAsLost() {
    long[][] written = {{0, 4}, {1, 2}};

    assertThat(joined(new long[][] {{0, 1}}, new long[][] {{0, 2}}, written).lost()).isEqualTo(4);
  }

  @Test
  void countsRepeatedRowsOfSnapshotAndStream() {
    long[][] twice = {{0, 1}, {0, 1}};

    assertThat(joined(twice, new long[][] {{0, 2}, {0, 2}}, new long[][] {{0, 2}}).doubled())
        .isEqualTo(2);
  }
}
