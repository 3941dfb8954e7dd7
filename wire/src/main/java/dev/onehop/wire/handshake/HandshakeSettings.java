package dev.onehop.wire.handshake;

import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The client's data in each handshake. Immutable.
 *
 * @param client the {@code client} document of hello, see {@link ClientMetadata}
 * @param compressors the names of the offered compressors, in order of preference
 * @param mechanism the authentication, null for none
 */
public record HandshakeSettings(
    BsonDocument client, List<String> compressors, @Nullable Mechanism mechanism) {

  public HandshakeSettings {
    compressors = List.copyOf(compressors);
  }
}
