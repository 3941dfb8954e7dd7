package dev.onehop.measure.joining;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;

class SampleDocumentsTest {

  @Test
  void seedDeterminesDocuments() {
    SampleDocuments documents = new SampleDocuments(1, 0);
    SampleDocuments same = new SampleDocuments(1, 0);
    RawBsonDocument first = documents.next();
    assertThat(first).isEqualTo(same.next());
    assertThat(documents.next()).isEqualTo(same.next()).isNotEqualTo(first);
    assertThat(new SampleDocuments(2, 0).next()).isNotEqualTo(first);
    assertThat(new SampleDocuments(1, 1).next()).isNotEqualTo(first);
  }

  @Test
  void documentsHaveIndexedAndNestedFields() {
    RawBsonDocument document = new SampleDocuments(1, 0).next();
    for (int field = 0; field < SampleDocuments.FIELDS; field++) {
      assertThat(document.containsKey("fld" + field)).isTrue();
    }
    assertThat(document.getArray("arr").get(0).isArray()).isTrue();
    assertThat(document.getDocument("nested").getDocument("inner").isString("name")).isTrue();
    assertThat(document.getByteBuffer().remaining()).isBetween(600, 1_500);
  }
}
