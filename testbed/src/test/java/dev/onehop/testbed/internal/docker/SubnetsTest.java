package dev.onehop.testbed.internal.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.TestbedException;
import org.junit.jupiter.api.Test;

class SubnetsTest {
  @Test
  void dividesSubnetOfEngine() {
    try (Subnets wide = Subnets.in("172.20.0.0/16", 4);
        Subnets narrow = Subnets.in("192.168.32.0/20", 16)) {
      assertThat(wide.gateway(3)).isEqualTo("172.20.3.1");
      assertThat(wide.container(3, 1)).isEqualTo("172.20.3.11");
      assertThat(narrow.gateway(15)).isEqualTo("192.168.47.1");
    }
  }

  @Test
  void rejectsTooSmallSubnet() {
    assertThatThrownBy(() -> Subnets.in("192.168.32.0/20", 17))
        .isInstanceOf(TestbedException.class)
        .hasMessageContaining("too small for 17 hosts");
    assertThatThrownBy(() -> Subnets.in("10.1.1.0/28", 1)).isInstanceOf(TestbedException.class);
  }
}
