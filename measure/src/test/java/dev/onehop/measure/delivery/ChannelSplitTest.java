package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

class ChannelSplitTest {

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  private static List<RawBsonDocument> events(int count) {
    List<RawBsonDocument> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      events.add(SampleEvents.of(SampleEvents.row(1, i % 1_000, 1 + i / 1_000, 0), i, 0));
    }
    return events;
  }

  @Test
  void channelReceivesItsEventsInOrderOneAtATime() throws Exception {
    List<RawBsonDocument> all = events(4_000);
    Map<Integer, List<RawBsonDocument>> taken = new ConcurrentHashMap<>();
    Map<Integer, AtomicInteger> within = new ConcurrentHashMap<>();
    EventStream.Sink consumer =
        (channel, event) -> {
          AtomicInteger now = within.computeIfAbsent(channel, number -> new AtomicInteger());
          assertThat(now.incrementAndGet()).isOne();
          taken.computeIfAbsent(channel, number -> new ArrayList<>()).add(event);
          now.decrementAndGet();
        };

    ChannelSplit split = new ChannelSplit(16, consumer, failures::add);
    for (int from = 0; from < all.size(); from += 100) {
      split.take(all.subList(from, from + 100));
    }
    split.close();

    assertThat(failures).isEmpty();
    assertThat(taken).hasSize(16);
    assertThat(taken.values().stream().mapToInt(List::size).sum()).isEqualTo(4_000);
    taken
        .values()
        .forEach(
            events ->
                assertThat(events.stream().map(Row::token)).isSorted().doesNotHaveDuplicates());
  }

  @Test
  void skipsEventsWithoutDocumentKey() throws Exception {
    AtomicInteger taken = new AtomicInteger();
    ChannelSplit split =
        new ChannelSplit(2, (channel, event) -> taken.incrementAndGet(), failures::add);
    split.take(
        List.of(SampleEvents.raw(BsonDocument.parse("{operationType: 'drop'}")), events(1).get(0)));
    split.close();
    assertThat(taken).hasValue(1);
  }

  @Test
  void reportsFailedConsumer() throws Exception {
    ChannelSplit split =
        new ChannelSplit(
            2,
            (channel, event) -> {
              throw new IllegalStateException("full");
            },
            failures::add);
    split.take(events(100));
    split.close();
    assertThat(failures).isNotEmpty().allSatisfy(each -> assertThat(each).hasMessage("full"));
  }
}
