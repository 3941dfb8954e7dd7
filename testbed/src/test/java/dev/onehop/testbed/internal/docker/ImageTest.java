package dev.onehop.testbed.internal.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.TestbedException;
import org.junit.jupiter.api.Test;

class ImageTest {
  private static final String MONGOD = "db version v8.0.17\nBuild Info: {}\n";

  @Test
  void readsVersionsInImage() {
    assertThat(Image.of("m", MONGOD + "mongos version v8.0.17\nBuild Info: {}\n"))
        .isEqualTo(new Image("m", "8.0.17", "8.0.17", false));
    assertThat(Image.of("m", MONGOD + "sh: mongos: not found\nhas java\n"))
        .isEqualTo(new Image("m", "8.0.17", null, true));
  }

  @Test
  void rejectsImageWithoutMongod() {
    assertThatThrownBy(() -> Image.of("debian:12", "sh: mongod: not found\n"))
        .isInstanceOf(TestbedException.class)
        .hasMessage("image debian:12 has no mongod; name an image with mongod, such as mongo:8.0");
  }

  @Test
  void requiresMongosOrJavaForRouters() {
    Image without = new Image("m", "8.0.17", null, false);

    assertThatThrownBy(() -> without.requireRouters(false))
        .hasMessage("image m has no mongos; name an image with mongos, such as mongo:8.0");
    assertThatThrownBy(() -> without.requireRouters(true))
        .hasMessageStartingWith("image m has neither a mongos nor Java for a stand-in router");
    assertThatCode(() -> new Image("m", "8.0.17", null, true).requireRouters(true))
        .doesNotThrowAnyException();
    assertThatCode(() -> new Image("m", "8.0.17", "8.0.17", false).requireRouters(false))
        .doesNotThrowAnyException();
  }
}
