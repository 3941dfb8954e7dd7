package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class TurnsTest {
  private final Turns turns = new Turns();
  private final List<String> begun = new ArrayList<>();

  private Mono<Void> work(String name, Mono<Void> end) {
    return turns.next(
        Mono.defer(
            () -> {
              begun.add(name);
              return end;
            }));
  }

  @Test
  void startsEachAfterPreviousEnds() {
    Sinks.Empty<Void> first = Sinks.empty();
    Sinks.Empty<Void> second = Sinks.empty();
    work("first", first.asMono()).subscribe();
    work("second", second.asMono()).subscribe(nothing -> {}, failure -> {});
    work("third", Mono.empty()).subscribe();
    assertThat(begun).containsExactly("first");
    first.tryEmitEmpty();
    assertThat(begun).containsExactly("first", "second");
    second.tryEmitError(new IllegalStateException());
    assertThat(begun).containsExactly("first", "second", "third");
  }

  /** Work may fail, for example because it can't write a document. Then it may run again later. */
  @Test
  void failedWorkCanRunAgain() {
    assertThat(
            work("first", Mono.error(new IllegalStateException()))
                .onErrorResume(failure -> work("again", Mono.empty()))
                .thenReturn("done")
                .block())
        .isEqualTo("done");
    assertThat(begun).containsExactly("first", "again");
  }
}
