package dev.onehop.testbed.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.testbed.internal.Loopback;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProcFsTest {

  @Test
  void readsLineOfSocket() {
    ProcFs.TcpSocket socket =
        ProcFs.parseSocket(
            "   2: 0100007F:D431 01021B7F:698A 01 00000000:00000000 02:000006D5 00000000"
                + "     0        0 31337 2 0000000000000000 20 4 30 10 -1");
    assertThat(socket.local()).isEqualTo(Loopback.socket(0, 0, 1, 54321));
    assertThat(socket.remote()).isEqualTo(Loopback.socket(27, 2, 1, 27018));
    assertThat(socket.listening()).isFalse();
    assertThat(socket.inode()).isEqualTo(31337);
  }

  @Test
  void readsIpv4WithinIpv6() {
    ProcFs.TcpSocket socket =
        ProcFs.parseSocket(
            "   0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF000001021B7F:698A 01"
                + " 00000000:00000000 00:00000000 00000000  0 0 42 1 0000000000000000");
    assertThat(socket.local()).isEqualTo(Loopback.socket(0, 0, 1, 8080));
    assertThat(socket.remote()).isEqualTo(Loopback.socket(27, 2, 1, 27018));
  }

  @Test
  void ignoresIpv6() {
    assertThat(
            ProcFs.parseSocket(
                "   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000"
                    + " 0A 00000000:00000000 00:00000000 00000000  0 0 42 1 0000000000000000"))
        .isNull();
  }

  @Test
  void findsOwnerOfConnection() throws IOException {
    InetAddress loopback = Loopback.ip(0, 0, 1);
    try (ServerSocket server = new ServerSocket(0, 1, loopback);
        Socket client = new Socket(loopback, server.getLocalPort())) {
      long inode =
          ProcFs.tcpSockets().stream()
              .filter(socket -> socket.local().equals(client.getLocalSocketAddress()))
              .filter(socket -> socket.remote().equals(client.getRemoteSocketAddress()))
              .findFirst()
              .orElseThrow()
              .inode();
      long self = ProcessHandle.current().pid();
      assertThat(ProcFs.socketOwners(Set.of(inode), List.of(1L, self))).containsEntry(inode, self);
    }
  }

  @Test
  void endedProcessHasNoStartTime() throws IOException, InterruptedException {
    Process process = new ProcessBuilder("true").start();
    long pid = process.pid();
    process.waitFor();
    assertThat(ProcFs.startTicks(pid)).isEmpty();
    assertThat(ProcFs.startTicks(ProcessHandle.current().pid())).isPresent();
  }
}
