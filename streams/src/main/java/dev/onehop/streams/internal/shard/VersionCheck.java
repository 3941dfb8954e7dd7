package dev.onehop.streams.internal.shard;

import dev.onehop.shards.cluster.Compatibility;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.wire.message.CommandFailure;
import java.util.function.Function;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** Refuses servers with a feature compatibility version below 5.0, before a stream is opened. */
final class VersionCheck {
  private VersionCheck() {}

  /**
   * Checks the version.
   *
   * @param admin runs a command on the database {@code admin} of mongoses or a replica set
   * @return completes without a value; fails with an {@link IllegalArgumentException} if the
   *     servers are too old
   */
  static Mono<Void> of(Function<BsonDocument, Mono<? extends BsonDocument>> admin) {
    // If the user lacks the right, Atlas returns another error code than Unauthorized. So every
    // final error counts as a missing right.
    return Compatibility.of(
            admin,
            failure ->
                failure instanceof CommandFailure
                    && Failures.of(failure).kind() != ReadFailure.Kind.PASSING)
        .flatMap(
            found ->
                found.isKnown()
                    ? Mono.empty()
                    : Mono.error(new IllegalArgumentException(found.refusal("the cluster"))));
  }
}
