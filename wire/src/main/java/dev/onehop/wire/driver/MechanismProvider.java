package dev.onehop.wire.driver;

import com.mongodb.MongoCredential;
import dev.onehop.wire.handshake.Mechanism;
import java.util.ServiceLoader;

/** Makes GSSAPI, MONGODB-AWS and MONGODB-OIDC; found by {@link ServiceLoader}. */
public interface MechanismProvider {
  /**
   * How a credential authenticates.
   *
   * @throws IllegalArgumentException if the credential lacks something, or has too much
   */
  Mechanism mechanism(MongoCredential credential);
}
