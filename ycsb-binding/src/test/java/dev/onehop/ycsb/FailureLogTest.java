package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import site.ycsb.Status;

class FailureLogTest {

  @Test
  void printsEachKindOfFailureOnce() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    FailureLog log = new FailureLog(new PrintStream(out, true, StandardCharsets.UTF_8));

    for (int i = 0; i < 1000; i++) {
      log.failed("READ", Status.NOT_FOUND, "not found");
      log.failed("READ", Status.ERROR, "failure " + i);
      log.failed("UPDATE", Status.ERROR, "failure " + i);
    }

    assertThat(out.toString(StandardCharsets.UTF_8).lines())
        .containsExactly(
            "onehop: READ: NOT_FOUND (not found); further failures of this kind are only counted",
            "onehop: READ: ERROR (failure 0); further failures of this kind are only counted",
            "onehop: UPDATE: ERROR (failure 0); further failures of this kind are only counted");
  }
}
