package dev.onehop.wire.handshake;

import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** SCRAM-SHA-1 and SCRAM-SHA-256 (RFC 5802, RFC 7677). Hello contains the first message. */
final class Scram implements Mechanism {
  static final String SHA_1 = "SCRAM-SHA-1";
  static final String SHA_256 = "SCRAM-SHA-256";

  private final @Nullable String name;
  private final UserCredential credential;
  private final ScramKeys keys = new ScramKeys();

  Scram(@Nullable String name, UserCredential credential) {
    this.name = name;
    this.credential = credential;
  }

  @Override
  public Login login(String host) {
    return new ScramLogin();
  }

  /**
   * The login of one connection. If no mechanism is set, hello contains the first message of
   * SCRAM-SHA-256. The reply lists the user's mechanisms, so the login can start again with
   * SCRAM-SHA-1.
   */
  private final class ScramLogin implements Login {
    private @Nullable ScramConversation begun;
    private String chosen = name == null ? SHA_256 : name;

    @Override
    public String who() {
      return credential.toString();
    }

    @Override
    public void addTo(BsonDocument hello) {
      if (name == null) {
        hello.append(
            "saslSupportedMechs", new BsonString(credential.source() + "." + credential.user()));
      }
      begun = new ScramConversation(credential, chosen, keys);
      hello.append(
          "speculativeAuthenticate",
          SaslDialogue.start(chosen, begun.next(new byte[0]))
              .append("db", new BsonString(credential.source())));
    }

    @Override
    public Mono<Void> run(BsonDocument helloReply, Commands commands) {
      ScramConversation early = begun;
      begun = null;
      if (early != null && helloReply.isDocument("speculativeAuthenticate")) {
        return dialogue(early, commands).after(helloReply.getDocument("speculativeAuthenticate"));
      }
      chosen = negotiated(helloReply);
      return again(commands);
    }

    @Override
    public Mono<Void> again(Commands commands) {
      return Mono.defer(
          () -> dialogue(new ScramConversation(credential, chosen, keys), commands).run());
    }

    private SaslDialogue dialogue(ScramConversation conversation, Commands commands) {
      return new SaslDialogue(
          who(), conversation.mechanism(), credential.source(), conversation, commands);
    }

    /** The mechanism by the specification: SCRAM-SHA-256 if the server lists it for the user. */
    private String negotiated(BsonDocument hello) {
      if (name != null) {
        return name;
      }
      return hello.isArray("saslSupportedMechs")
              && hello.getArray("saslSupportedMechs").contains(new BsonString(SHA_256))
          ? SHA_256
          : SHA_1;
    }
  }
}
