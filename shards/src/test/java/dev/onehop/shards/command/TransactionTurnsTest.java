package dev.onehop.shards.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class TransactionTurnsTest {
  private static final BsonString SESSION = new BsonString("a session");

  private final TransactionTurns turns = new TransactionTurns();
  private final List<String> run = new ArrayList<>();

  private Disposable run(String name, Mono<String> until) {
    return turns.inTurn(SESSION, Mono.defer(() -> until.doFirst(() -> run.add(name)))).subscribe();
  }

  @Test
  void runsCommandsOfSessionInOrder() {
    Sinks.One<String> first = Sinks.one();
    run("first", first.asMono());
    run("second", Mono.just("done"));
    turns.inTurn(new BsonString("another"), Mono.fromRunnable(() -> run.add("other"))).subscribe();
    turns.inTurn(null, Mono.fromRunnable(() -> run.add("without"))).subscribe();
    assertThat(run).containsExactly("first", "other", "without");

    first.tryEmitValue("done");

    assertThat(run).containsExactly("first", "other", "without", "second");
  }

  @Test
  void cancelledWaitingCommandKeepsOrder() {
    Sinks.One<String> first = Sinks.one();
    run("first", first.asMono());
    Disposable second = run("second", Mono.just("done"));
    run("third", Mono.just("done"));

    second.dispose();
    assertThat(run).containsExactly("first");
    first.tryEmitEmpty();

    assertThat(run).containsExactly("first", "third");
  }

  @Test
  void cancellationEndsTurn() {
    Disposable first = run("first", Mono.never());
    assertThat(turns.begin(SESSION)).isNull();

    first.dispose();

    TransactionTurns.Turn turn = turns.begin(SESSION);
    assertThat(turn).isNotNull();
    turn.end();
    turn.end();
    run("second", Mono.just("done"));
    assertThat(run).containsExactly("first", "second");
  }
}
