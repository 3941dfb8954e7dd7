package dev.onehop.wire.handshake;

import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What every connection says of its client. Immutable.
 *
 * @param client the {@code client} document of hello, see {@link ClientMetadata}
 * @param compressors the names of compressors to offer, the best first
 * @param mechanism how to authenticate, null for not at all
 */
public record HandshakeSettings(
    BsonDocument client, List<String> compressors, @Nullable Mechanism mechanism) {

  public HandshakeSettings {
    compressors = List.copyOf(compressors);
  }
}
