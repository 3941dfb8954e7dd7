package dev.onehop.wire.handshake;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.UnaryOperator;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonString;
import reactor.core.publisher.Mono;

/** A connection to a server whose replies a test sets, one after another. */
public final class ScriptedConnection implements Commands {
  public static final Duration TIMEOUT = Duration.ofSeconds(20);
  static final BsonDocument METADATA = BsonDocument.parse("{driver: {name: 'it'}}");

  public final List<BsonDocument> seen = new ArrayList<>();
  private final Deque<UnaryOperator<BsonDocument>> answers = new ArrayDeque<>();

  /** Adds the reply to the next command, in relaxed JSON. */
  public ScriptedConnection then(String json) {
    return then(command -> BsonDocument.parse(json));
  }

  public ScriptedConnection then(UnaryOperator<BsonDocument> answer) {
    answers.add(answer);
    return this;
  }

  /** Adds a step of a SASL conversation as the next reply. */
  public ScriptedConnection thenPayload(boolean done, byte[] payload) {
    return then(command -> payload(done, payload));
  }

  public static BsonDocument payload(boolean done, byte[] payload) {
    return BsonDocument.parse("{ok: 1, conversationId: 1, done: " + done + "}")
        .append("payload", new BsonBinary(payload));
  }

  @Override
  public Mono<BsonDocument> send(BsonDocument command) {
    return Mono.fromCallable(
        () -> {
          seen.add(command);
          UnaryOperator<BsonDocument> answer = answers.poll();
          return answer == null
              ? new BsonDocument("errmsg", new BsonString("unexpected: " + command))
              : answer.apply(command);
        });
  }

  public Handshake handshake(Mechanism mechanism, String host) {
    return new Handshake(new HandshakeSettings(METADATA, List.of(), mechanism), host, this);
  }

  /** Sends hello and authenticates. */
  public Handshake run(Mechanism mechanism) {
    Handshake handshake = handshake(mechanism, "localhost");
    handshake.run().block(TIMEOUT);
    return handshake;
  }

  public byte[] sentPayload(int command) {
    return seen.get(command).getBinary("payload").getData();
  }

  public List<String> commands() {
    return seen.stream().map(BsonDocument::getFirstKey).toList();
  }
}
