package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class EventStreamTest {

  private final EventStream stream =
      new EventStream() {
        @Override
        public void close() {}
      };

  @Test
  void firstFailureIsKept() {
    assertThat(stream.failure()).isNull();
    stream.check(StreamPath.MONGOS);

    stream.failed(new IllegalStateException("full"));
    stream.failed(new IllegalStateException("closed"));

    assertThat(stream.failure()).hasMessage("full");
    assertThatThrownBy(() -> stream.check(StreamPath.MONGOS))
        .hasMessage("the change stream by path mongos failed: full");
  }
}
