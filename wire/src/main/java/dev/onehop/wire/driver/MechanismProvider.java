package dev.onehop.wire.driver;

import com.mongodb.MongoCredential;
import dev.onehop.wire.handshake.Mechanism;
import java.util.ServiceLoader;

/** Creates the mechanisms GSSAPI, MONGODB-AWS and MONGODB-OIDC; found by {@link ServiceLoader}. */
public interface MechanismProvider {
  /**
   * The mechanism of a credential.
   *
   * @throws IllegalArgumentException if the credential is incomplete, or has invalid properties
   */
  Mechanism mechanism(MongoCredential credential);
}
