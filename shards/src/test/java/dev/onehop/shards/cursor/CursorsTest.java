package dev.onehop.shards.cursor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.shards.cursor.Cursors.OpenCursor;
import dev.onehop.wire.message.CommandFailure;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class CursorsTest {
  private long now = 42;
  private final Cursors cursors = new Cursors(() -> now);

  @Test
  void killsIdleCursor() {
    Scripted idle = new Scripted(false);
    Scripted used = new Scripted(false);
    Scripted kept = new Scripted(true);
    cursors.add(1, idle);
    cursors.add(2, used);
    cursors.add(3, kept);

    advanceClock(Cursors.MOST_IDLE.minusSeconds(1));
    used.next = Mono.just(CursorReplies.next("d.c", 2, List.of()));
    cursors.getMore(getMore(2)).block();
    cursors.add(4, new Scripted(false));
    assertThat(idle.killed).isZero();
    advanceClock(Cursors.MOST_IDLE.minusSeconds(1));
    cursors.add(5, new Scripted(false));

    assertThat(idle.killed).isEqualTo(1);
    assertThat(used.killed).isZero();
    assertThat(kept.killed).isZero();
    assertThatThrownBy(() -> cursors.getMore(getMore(1)).block())
        .isInstanceOf(CommandFailure.class);
  }

  @Test
  void waitingCursorIsNotIdle() {
    Scripted slow = new Scripted(false);
    Sinks.One<BsonDocument> reply = Sinks.one();
    slow.next = reply.asMono();
    cursors.add(1, slow);
    cursors.getMore(getMore(1)).subscribe();

    advanceClock(Cursors.MOST_IDLE.plusHours(1));
    cursors.add(2, new Scripted(false));
    reply.tryEmitValue(CursorReplies.next("d.c", 1, List.of()));
    advanceClock(Duration.ofMinutes(2));
    cursors.add(3, new Scripted(false));

    assertThat(slow.killed).isZero();
  }

  @Test
  void errorKillsCursor() {
    Scripted broken = new Scripted(false);
    broken.next = Mono.error(new IllegalStateException("broken"));
    cursors.add(1, broken);

    assertThatThrownBy(() -> cursors.getMore(getMore(1)).block()).hasMessage("broken");

    assertThat(broken.killed).isEqualTo(1);
    assertThat(cursors.kill(1).block()).isFalse();
  }

  @Test
  void cancellationKillsCursor() {
    Scripted waiting = new Scripted(false);
    cursors.add(1, waiting);

    cursors.getMore(getMore(1)).subscribe().dispose();

    assertThat(waiting.killed).isEqualTo(1);
  }

  private void advanceClock(Duration time) {
    now += time.toNanos();
  }

  private static BsonDocument getMore(long id) {
    return new BsonDocument("getMore", new BsonInt64(id));
  }

  private static final class Scripted implements OpenCursor {
    private final boolean neverTimesOut;
    private Mono<BsonDocument> next = Mono.never();
    private int killed;

    Scripted(boolean neverTimesOut) {
      this.neverTimesOut = neverTimesOut;
    }

    @Override
    public Mono<BsonDocument> getMore(BsonDocument command, long id) {
      return next;
    }

    @Override
    public Mono<Void> kill() {
      return Mono.fromRunnable(() -> killed++);
    }

    @Override
    public boolean neverTimesOut() {
      return neverTimesOut;
    }
  }
}
