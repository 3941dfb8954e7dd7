package dev.onehop.streams.internal.shard;

import dev.onehop.wire.message.CommandFailure;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class VersionCheckTest {
  /** For a missing right, Atlas returns the code 8000, AtlasError. */
  @Test
  void acceptsAtlasUserWithoutReadRight() {
    VersionCheck.of(
            command ->
                command.containsKey("find")
                    ? Mono.error(
                        new CommandFailure(
                            8000,
                            "AtlasError",
                            "user is not allowed to do action [find] on [admin.system.version]"))
                    : Mono.just(BsonDocument.parse("{ok: 1, version: '6.0.5'}")))
        .block();
  }
}
