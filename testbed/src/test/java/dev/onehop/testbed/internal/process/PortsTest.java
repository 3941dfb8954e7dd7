package dev.onehop.testbed.internal.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.Loopback;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

class PortsTest {

  @Test
  void namesProcessOnPort() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, Loopback.ip(41, 0, 1))) {
      InetSocketAddress address = Loopback.socket(41, 0, 1, taken.getLocalPort());
      assertThat(catchThrowable(() -> Ports.requireFree(address)))
          .isInstanceOf(TestbedException.class)
          .hasMessage(
              "127.41.0.1:%d is taken by process %d (java)",
              taken.getLocalPort(), ProcessHandle.current().pid());
    }
  }

  @Test
  void findsListenerOnAllAddresses() throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      InetSocketAddress address = Loopback.socket(41, 0, 1, taken.getLocalPort());
      assertThat(catchThrowable(() -> Ports.requireFree(address)))
          .hasMessageContaining("by process " + ProcessHandle.current().pid());
    }
  }

  @Test
  void acceptsFreePort() {
    assertThatCode(() -> Ports.requireFree(Loopback.socket(41, 0, 2, 27018)))
        .doesNotThrowAnyException();
  }
}
