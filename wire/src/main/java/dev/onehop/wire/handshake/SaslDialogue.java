package dev.onehop.wire.handshake;

import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One SASL conversation over {@code saslStart} and {@code saslContinue}. */
public final class SaslDialogue {
  // Limits the conversation with a server that never ends it. No mechanism needs so many steps.
  private static final int MOST_STEPS = 100;

  private final String who;
  private final String mechanism;
  private final String source;
  private final SaslSteps steps;
  private final Commands commands;
  private int left = MOST_STEPS;

  /**
   * Creates a conversation, without sending a command.
   *
   * @param who the user, for messages
   * @param source the database that the user belongs to
   */
  public SaslDialogue(
      String who, String mechanism, String source, SaslSteps steps, Commands commands) {
    this.who = who;
    this.mechanism = mechanism;
    this.source = source;
    this.steps = steps;
    this.commands = commands;
  }

  /** The first command, without its database. */
  public static BsonDocument start(String mechanism, byte[] payload) {
    BsonDocument start =
        new BsonDocument("saslStart", new BsonInt32(1))
            .append("mechanism", new BsonString(mechanism))
            .append("payload", new BsonBinary(payload));
    return mechanism.startsWith("SCRAM-")
        ? start.append("options", new BsonDocument("skipEmptyExchange", BsonBoolean.TRUE))
        : start;
  }

  /** Runs the whole conversation. */
  public Mono<Void> run() {
    return step(new byte[0])
        .flatMap(first -> commands.require(who, source, start(mechanism, first)))
        .flatMap(this::after)
        .doFinally(end -> steps.close());
  }

  /** Continues after the server's first reply. */
  public Mono<Void> after(BsonDocument reply) {
    byte[] challenge =
        reply.isBinary("payload") ? reply.getBinary("payload").getData() : new byte[0];
    if (reply.getBoolean("done", BsonBoolean.FALSE).getValue()) {
      return steps.isComplete() ? Mono.empty() : step(challenge).then(Mono.defer(this::checked));
    }
    if (left-- == 0) {
      return Mono.error(
          new AuthenticationFailure(who, "the server does not end the conversation", null));
    }
    return step(challenge)
        .flatMap(
            answer ->
                commands.require(
                    who,
                    source,
                    new BsonDocument("saslContinue", new BsonInt32(1))
                        .append("conversationId", reply.get("conversationId", new BsonInt32(0)))
                        .append("payload", new BsonBinary(answer))))
        .flatMap(this::after);
  }

  // A server that ends the conversation early fails the login: it has not proved that it has the
  // user's credentials.
  private Mono<Void> checked() {
    return steps.isComplete()
        ? Mono.empty()
        : Mono.error(
            new AuthenticationFailure(
                who,
                "the server ended the conversation before it proved that it has the user's"
                    + " credentials",
                null));
  }

  private Mono<byte[]> step(byte[] challenge) {
    Mono<byte[]> step =
        Mono.fromCallable(() -> steps.next(challenge))
            .onErrorMap(Exception.class, e -> AuthenticationFailure.of(who, e));
    return steps.mayBlock() ? step.subscribeOn(Schedulers.boundedElastic()) : step;
  }
}
