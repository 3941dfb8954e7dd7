package dev.onehop.routing.internal.wire;

import org.jspecify.annotations.Nullable;

/**
 * Who a connection authenticates as.
 *
 * @param mechanism one of {@link #SCRAM_SHA_1}, {@link #SCRAM_SHA_256}, {@link #X509}; null to
 *     negotiate a SCRAM mechanism
 * @param user the user's name; null with X.509, where the certificate has it
 * @param source the database that the user belongs to
 * @param password null with X.509
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record WireCredential(
    @Nullable String mechanism, @Nullable String user, String source, char @Nullable [] password) {
  public static final String SCRAM_SHA_1 = "SCRAM-SHA-1";
  public static final String SCRAM_SHA_256 = "SCRAM-SHA-256";
  public static final String X509 = "MONGODB-X509";

  @Override
  public String toString() {
    // Never the password.
    return user == null ? "the certificate's user" : "user " + user + "@" + source;
  }
}
