package dev.onehop.testbed.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class HostNameTest {

  @Test
  void commandSeesOtherHostNameAndKeepsPid() throws IOException {
    Assumptions.assumeTrue(HostName.isPossible(), "this system allows no namespaces");
    String before = run(List.of("hostname")).output();
    Run renamed = run(HostName.command("127.27.2.1", List.of("sh", "-c", "hostname; echo $$")));
    assertThat(renamed.output()).isEqualTo("127.27.2.1\n" + renamed.pid() + "\n");
    assertThat(run(List.of("hostname")).output()).isEqualTo(before);
  }

  private record Run(long pid, String output) {}

  private static Run run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).start();
    return new Run(
        process.pid(), new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
  }
}
