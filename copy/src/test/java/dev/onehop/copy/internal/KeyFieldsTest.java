package dev.onehop.copy.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class KeyFieldsTest {
  private static BsonDocument json(String json) {
    return BsonDocument.parse(json);
  }

  @Test
  void includesIdForFieldInsideId() {
    assertThat(KeyFields.withId(List.of("_id.h", "k"))).isEqualTo(json("{_id: true, k: true}"));
    assertThat(KeyFields.of(List.of("_id.h", "k"))).isEqualTo(json("{_id: true, k: true}"));
    assertThat(KeyFields.of(List.of("_id"))).isEqualTo(json("{_id: true}"));
  }

  @Test
  void omitsIdIfNotRequested() {
    assertThat(KeyFields.of(List.of("k", "_idle")))
        .isEqualTo(json("{_id: false, k: true, _idle: true}"));
    assertThat(KeyFields.withId(List.of("k"))).isEqualTo(json("{_id: true, k: true}"));
    assertThat(KeyFields.withId(List.of())).isEqualTo(json("{_id: true}"));
  }
}
