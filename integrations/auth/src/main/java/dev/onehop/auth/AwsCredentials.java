package dev.onehop.auth;

import org.jspecify.annotations.Nullable;

/**
 * Keys of an AWS identity.
 *
 * @param sessionToken with temporary keys only
 */
public record AwsCredentials(
    String accessKeyId, String secretAccessKey, @Nullable String sessionToken) {

  @Override
  public String toString() {
    // Never the secrets.
    return "AWS access key " + accessKeyId;
  }
}
