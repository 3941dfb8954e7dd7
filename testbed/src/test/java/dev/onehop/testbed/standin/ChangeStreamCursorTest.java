package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.testbed.standin.ChangeStreamCursor.ShardStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ChangeStreamCursorTest {
  private final Shard left = new Shard();
  private final Shard right = new Shard();

  @Test
  void returnsEventsInTokenOrder() {
    ChangeStreamCursor cursor = open(null);
    left.addReply(9, 1, 4, 5);
    right.addReply(9, 2, 3, 6);

    assertThat(times(next(cursor, 10))).containsExactly(1, 2, 3, 4, 5, 6);
  }

  @Test
  void holdsEventUntilAllShardsPassIt() {
    ChangeStreamCursor cursor = open(null);
    left.addReply(9, 5);
    right.addReply(3);

    BsonDocument emptyBatch = next(cursor, 10);
    assertThat(times(emptyBatch)).isEmpty();
    assertThat(token(emptyBatch)).isEqualTo(mark(3));
    assertThat(right.advancedTo).contains(new BsonTimestamp(5, 1));

    right.addReply(7, 4);
    assertThat(times(next(cursor, 10))).containsExactly(4, 5);
  }

  @Test
  void fullBatchHasTokenOfLastEvent() {
    ChangeStreamCursor cursor = open(null);
    left.addReply(9, 1, 4);
    right.addReply(9, 2, 3);

    BsonDocument batch = next(cursor, 2);
    assertThat(times(batch)).containsExactly(1, 2);
    assertThat(token(batch)).isEqualTo(event(2));
    assertThat(times(next(cursor, 10))).containsExactly(3, 4);
  }

  @Test
  void resumedStreamOmitsSeenEvents() {
    ChangeStreamCursor cursor = open(ResumeToken.of(tokenDocument(event(3))));
    left.addReply(9, 3, 4);
    right.addReply(9, 3, 5);

    assertThat(token(cursor.firstReply(1))).isEqualTo(event(3));
    assertThat(times(next(cursor, 10))).containsExactly(4, 5);
  }

  @Test
  void invalidateEndsAllStreams() {
    ChangeStreamCursor cursor = open(null);
    left.addReply(9, 1);
    left.last().getDocument("cursor").getArray("nextBatch").add(invalidate(2));
    right.addReply(9, 5);

    BsonDocument reply = next(cursor, 10);
    assertThat(times(reply)).containsExactly(1, 2);
    assertThat(CursorReplies.id(reply)).isZero();
    assertThat(right.killed).isTrue();
  }

  @Test
  void waitingCursorDoesNotAdvanceIdleShards() {
    ChangeStreamCursor cursor = open(null, true);
    left.addReply(9, 5);
    right.addReply(3);

    assertThat(times(next(cursor, 10))).isEmpty();
    assertThat(right.advancedTo).isEmpty();

    right.addReply(7);
    assertThat(times(next(cursor, 10))).containsExactly(5);
  }

  private ChangeStreamCursor open(@Nullable ResumeToken after) {
    return open(after, false);
  }

  private ChangeStreamCursor open(@Nullable ResumeToken after, boolean waiting) {
    ChangeStreamCursor cursor = new ChangeStreamCursor("d.c", List.of(left, right), after, waiting);
    for (int i = 0; i < 2; i++) {
      cursor.opened(i, reply("firstBatch", mark(0), List.of()));
    }
    return cursor;
  }

  private static BsonDocument next(ChangeStreamCursor cursor, int batchSize) {
    BsonDocument command =
        new BsonDocument("batchSize", new BsonInt32(batchSize))
            .append("maxTimeMS", new BsonInt64(20));
    return cursor.getMore(command, 1).block(Duration.ofSeconds(10));
  }

  private static List<Integer> times(BsonDocument reply) {
    return CursorReplies.documents(reply).stream()
        .map(each -> ResumeToken.of(each.asDocument().get("_id")).clusterTime().getTime())
        .toList();
  }

  private static String token(BsonDocument reply) {
    return ResumeToken.of(reply.getDocument("cursor").get("postBatchResumeToken")).data();
  }

  private static String mark(int time) {
    return String.format(Locale.ROOT, "82%08X000000012B0429296E04", time);
  }

  private static String event(int time) {
    return String.format(Locale.ROOT, "82%08X000000012B042C0100296E04", time);
  }

  private static BsonDocument tokenDocument(String data) {
    return new BsonDocument("_data", new BsonString(data));
  }

  private static BsonDocument insert(int time) {
    return new BsonDocument("_id", tokenDocument(event(time)))
        .append("operationType", new BsonString("insert"));
  }

  private static BsonDocument invalidate(int time) {
    return new BsonDocument("_id", tokenDocument(event(time)))
        .append("operationType", new BsonString("invalidate"));
  }

  private static BsonDocument reply(String batch, String mark, List<BsonDocument> events) {
    return new BsonDocument(
            "cursor",
            new BsonDocument(batch, new BsonArray(new ArrayList<>(events)))
                .append("id", new BsonInt64(7))
                .append("ns", new BsonString("d.c"))
                .append("postBatchResumeToken", tokenDocument(mark)))
        .append("ok", new BsonDouble(1));
  }

  private static final class Shard implements ShardStream {
    private final Deque<BsonDocument> replies = new ArrayDeque<>();
    private final List<BsonTimestamp> advancedTo = new ArrayList<>();
    private String mark = mark(0);
    private boolean killed;

    void addReply(int upTo, int... times) {
      mark = mark(upTo);
      replies.add(
          reply(
              "nextBatch",
              mark,
              IntStream.of(times).mapToObj(ChangeStreamCursorTest::insert).toList()));
    }

    BsonDocument last() {
      return replies.getLast();
    }

    @Override
    public Mono<BsonDocument> next(Duration wait) {
      BsonDocument reply = replies.poll();
      return Mono.just(reply != null ? reply : reply("nextBatch", mark, List.of()));
    }

    @Override
    public Mono<Void> advanceTo(BsonTimestamp time) {
      advancedTo.add(time);
      return Mono.empty();
    }

    @Override
    public Mono<Void> kill() {
      killed = true;
      return Mono.empty();
    }
  }
}
