package dev.onehop.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerAddressNameTest {

  @ParameterizedTest
  @CsvSource({
    "db1.example:27018, db1.example, 27018, db1.example:27018",
    "DB1, db1, 27017, db1:27017",
    "[::1]:27019, ::1, 27019, [::1]:27019",
    "127.0.0.1:1, 127.0.0.1, 1, 127.0.0.1:1"
  })
  void parsesValidNames(String text, String host, int port, String shown) {
    ServerAddressName name = ServerAddressName.parse(text);

    assertThat(name).isEqualTo(new ServerAddressName(host, port));
    assertThat(name).hasToString(shown);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":27017", "host:", "host:x", "host:0", "host:70000"})
  void rejectsInvalidNames(String text) {
    assertThatThrownBy(() -> ServerAddressName.parse(text))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void convertsHostToLowerCase() {
    assertThat(ServerAddressName.parse("A:1").host()).isEqualTo("a");
  }
}
