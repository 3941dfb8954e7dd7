package dev.onehop.wire.watch;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoClientSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class DriverClientTest {
  @AfterEach
  void clear() {
    MDC.remove("onehop");
  }

  @Test
  void keepsLoggingContextOfCaller() {
    MDC.put("onehop", "mine");
    DriverClient.connect(MongoClientSettings.builder().build()).close();
    assertThat(MDC.get("onehop")).isEqualTo("mine");

    MDC.remove("onehop");
    DriverClient.connect(MongoClientSettings.builder().build()).close();
    assertThat(MDC.get("onehop")).isNull();
  }
}
