package dev.onehop.streams.internal.shard;

import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.wire.message.CommandFailure;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import reactor.core.publisher.Mono;

/** Refuses servers with a feature compatibility version below 5.0, before a stream is opened. */
final class VersionCheck {
  private static final int LEAST = 5;

  private VersionCheck() {}

  /**
   * Reads the servers' feature compatibility version, or the server version if the user may not
   * read it.
   *
   * @param admin runs a command on the database {@code admin} of mongoses or a replica set
   * @return empty; an {@link IllegalArgumentException} if the servers are too old
   */
  static Mono<Void> of(Function<BsonDocument, Mono<BsonDocument>> admin) {
    BsonDocument find =
        new BsonDocument("find", new BsonString("system.version"))
            .append(
                "filter", new BsonDocument("_id", new BsonString("featureCompatibilityVersion")))
            .append("limit", new BsonInt32(1))
            .append("singleBatch", org.bson.BsonBoolean.TRUE);
    return admin
        .apply(find)
        .flatMap(reply -> refusal("feature compatibility version", first(reply)))
        .onErrorResume(
            // Atlas has another error code for a missing right.
            failure ->
                failure instanceof CommandFailure
                    && Failures.of(failure).kind() != ReadFailure.Kind.PASSING,
            unknown ->
                admin
                    .apply(new BsonDocument("buildInfo", new BsonInt32(1)))
                    .flatMap(reply -> refusal("server version", reply)));
  }

  private static BsonDocument first(BsonDocument reply) {
    for (BsonValue found :
        reply.getDocument("cursor", new BsonDocument()).getArray("firstBatch", new BsonArray())) {
      return found.asDocument();
    }
    return new BsonDocument();
  }

  private static Mono<Void> refusal(String kind, BsonDocument found) {
    String version = found.getString("version", new BsonString("")).getValue();
    return version.isEmpty() || Integer.parseInt(version.replaceFirst("\\..*", "")) >= LEAST
        ? Mono.empty()
        : Mono.error(
            new IllegalArgumentException(
                "the cluster has the %s %s, and %d.0 or later is needed"
                    .formatted(kind, version, LEAST)));
  }
}
