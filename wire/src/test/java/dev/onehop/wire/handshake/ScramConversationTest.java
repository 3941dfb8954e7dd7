package dev.onehop.wire.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ongres.scram.common.ScramMechanism;
import com.ongres.scram.common.ServerFirstMessage;
import com.ongres.scram.common.StringPreparation;
import com.ongres.scram.common.exception.ScramException;
import org.junit.jupiter.api.Test;

/** The example conversations of RFC 7677, and of the drivers' authentication specification. */
class ScramConversationTest {
  private static final String NONCE = "rOprNGfwEbeRWgbNEkqO";
  private static final String ANSWER =
      "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

  private final ScramKeys keys = new ScramKeys();

  private ScramConversation conversation(String password) {
    return new ScramConversation(
        new UserCredential("user", "admin", password.toCharArray()), Scram.SHA_256, keys, NONCE);
  }

  @Test
  void sha256MatchesExampleOfRfc() throws ScramException {
    // The second conversation uses the cached keys.
    for (int i = 0; i < 2; i++) {
      ScramConversation conversation = conversation("pencil");

      assertThat(conversation.firstMessage()).isEqualTo("n,,n=user,r=" + NONCE);
      assertThat(conversation.finalMessage(ANSWER))
          .isEqualTo(
              "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                  + "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
      conversation.verify("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }
  }

  @Test
  void sha1MatchesExampleOfSpecification() throws ScramException {
    ScramConversation conversation =
        new ScramConversation(
            new UserCredential("user", "admin", "pencil".toCharArray()),
            Scram.SHA_1,
            keys,
            "fyko+d2lbbFgONRv9qkxdawL");
    conversation.firstMessage();

    assertThat(
            conversation.finalMessage(
                "r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,"
                    + "s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000"))
        .endsWith("p=MC2T8BvbmWRckDw8oWl5IVghwCY=");
    conversation.verify("v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0=");
  }

  @Test
  void rejectsInvalidServerSignature() throws ScramException {
    ScramConversation conversation = conversation("pencil");
    conversation.firstMessage();
    conversation.finalMessage(ANSWER);

    assertThatThrownBy(() -> conversation.verify("v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="))
        .isInstanceOf(ScramException.class);
  }

  @Test
  void keysAreDerivedOncePerSaltAndIterations() throws ScramException {
    ScramKeys.Keys first = derive(ANSWER);

    assertThat(derive(ANSWER)).isSameAs(first);
    assertThat(derive(ANSWER.replace("i=4096", "i=4097"))).isNotSameAs(first);
    assertThat(derive(ANSWER.replace("s=W22", "s=W23"))).isNotSameAs(first);
  }

  private ScramKeys.Keys derive(String answer) throws ScramException {
    return keys.derive(
        ScramMechanism.SCRAM_SHA_256,
        StringPreparation.SASL_PREPARATION,
        "pencil".toCharArray(),
        ServerFirstMessage.parseFrom(answer, NONCE));
  }
}
