package dev.onehop.wire.handshake;

import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** MONGODB-X509: the server reads the user from the certificate of the connection. */
record X509Mechanism(@Nullable String user) implements Mechanism, Mechanism.Login {

  @Override
  public Login login(String host) {
    return this;
  }

  @Override
  public String who() {
    return user == null ? "the certificate's user" : "user " + user + "@" + EXTERNAL;
  }

  @Override
  public void addTo(BsonDocument hello) {
    hello.append("speculativeAuthenticate", authenticate().append("db", new BsonString(EXTERNAL)));
  }

  @Override
  public Mono<Void> run(BsonDocument helloReply, Commands commands) {
    return helloReply.containsKey("speculativeAuthenticate")
        ? Mono.empty()
        : commands.require(who(), EXTERNAL, authenticate()).then();
  }

  private BsonDocument authenticate() {
    BsonDocument authenticate =
        new BsonDocument("authenticate", new BsonInt32(1))
            .append("mechanism", new BsonString("MONGODB-X509"));
    return user == null ? authenticate : authenticate.append("user", new BsonString(user));
  }
}
