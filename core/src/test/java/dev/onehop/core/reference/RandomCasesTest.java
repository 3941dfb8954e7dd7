package dev.onehop.core.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RandomCasesTest {
  @Test
  void theSameSeedGivesTheSameCases() {
    assertThat(drawn(7)).hasSize(100).doesNotHaveDuplicates().isEqualTo(drawn(7));
    assertThat(drawn(8)).doesNotContainSequence(drawn(7).subList(50, 52));
  }

  @Test
  void startsWithEdgeSeeds() {
    assertThat(drawn(7))
        .startsWith(new Random(0).nextLong())
        .contains(new Random(Long.MIN_VALUE).nextLong(), new Random(Long.MAX_VALUE).nextLong())
        .contains(new Random(Integer.MIN_VALUE).nextLong());
  }

  @Test
  void aFailureNamesTheSeedAndTheCase() {
    RuntimeException cause = new IllegalStateException("wrong");
    List<Random> cases = new ArrayList<>();
    assertThatThrownBy(
            () ->
                RandomCases.check(
                    3,
                    42,
                    random -> {
                      cases.add(random);
                      if (cases.size() == 2) {
                        throw cause;
                      }
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessage("case 2 of 3, new Random(1L), repeat with -Dseed=42: wrong")
        .hasCause(cause);
    assertThat(cases).hasSize(2);
  }

  private static List<Long> drawn(long seed) {
    List<Long> drawn = new ArrayList<>();
    RandomCases.check(100, seed, random -> drawn.add(random.nextLong()));
    return drawn;
  }
}
