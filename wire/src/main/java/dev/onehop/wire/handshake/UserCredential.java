package dev.onehop.wire.handshake;

/**
 * A user with a password.
 *
 * @param user the user's name
 * @param source the database that the user belongs to
 */
@SuppressWarnings("ArrayRecordComponent") // credentials are never compared
record UserCredential(String user, String source, char[] password) {

  @Override
  public String toString() {
    // The password must not appear in messages.
    return "user " + user + "@" + source;
  }
}
