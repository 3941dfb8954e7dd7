package dev.onehop.auth;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gets tokens of an identity provider. May block. Called once at a time. */
@FunctionalInterface
public interface OidcTokens {
  /** Gets a token. */
  Token request(Request request) throws Exception;

  /**
   * What a token is wanted for.
   *
   * @param timeout how long it may take
   * @param provider as the server names it, with a person's login only
   * @param refreshToken of an earlier login, null if there is none
   * @param user null if the credential names none
   */
  record Request(
      Duration timeout,
      @Nullable IdentityProvider provider,
      @Nullable String refreshToken,
      @Nullable String user) {}

  /** An identity provider. */
  record IdentityProvider(String issuer, @Nullable String clientId, List<String> scopes) {}

  /**
   * What the provider gave.
   *
   * @param refreshToken with a person's login only
   */
  record Token(String accessToken, @Nullable String refreshToken) {
    @Override
    public String toString() {
      // Never the secrets.
      return "an OIDC token";
    }
  }
}
