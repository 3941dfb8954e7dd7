package dev.onehop.testbed.standin.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.testbed.standin.command.MergedCursor.Source;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MergedCursorTest {
  private static final BsonDocument ASCENDING = new BsonDocument("a", new BsonInt32(1));

  @Test
  void returnsDocumentsInSortKeyOrder() {
    MergedCursor cursor = merged(SortKeys.of(ASCENDING), 0, 0, shard(1, 4, 5), shard(2, 3, 9));

    assertThat(values(first(cursor, 100))).containsExactly(1, 2, 3, 4, 5, 9);
    assertThat(cursor.isExhausted()).isTrue();
  }

  @Test
  void descendingFieldsReverseOrder() {
    SortKeys descending = SortKeys.of(new BsonDocument("a", new BsonInt32(-1)));

    assertThat(values(first(merged(descending, 0, 0, shard(9, 4), shard(7, 5)), 100)))
        .containsExactly(9, 7, 5, 4);
  }

  @Test
  void bestTextScoreIsFirst() {
    SortKeys byScore = SortKeys.of(BsonDocument.parse("{score: {$meta: 'textScore'}}"));

    assertThat(values(first(merged(byScore, 0, 0, shard(9, 4), shard(7, 5)), 100)))
        .containsExactly(9, 7, 5, 4);
  }

  @Test
  void orderByOtherMetadataIsUnsupported() {
    assertThat(SortKeys.of(BsonDocument.parse("{a: 1, r: {$meta: 'randVal'}}"))).isNull();
  }

  /** A collation key has the type string, but its bytes need not be text. */
  @Test
  void comparesNonTextSortKeysByBytes() {
    MergedCursor cursor =
        merged(
            SortKeys.of(ASCENDING),
            0,
            0,
            new Source(
                CursorReplies.first("d.c", 0, List.of(keyed(2, 0xE3), keyed(3, 0xF5))), null),
            new Source(
                CursorReplies.first("d.c", 0, List.of(keyed(1, 0x9F), keyed(4, 0xFE))), null));

    assertThat(values(first(cursor, 100))).containsExactly(1, 2, 3, 4);
  }

  private static BsonDocument keyed(int a, int keyByte) {
    RawBsonDocument document =
        new RawBsonDocument(
            new BsonDocument("a", new BsonInt32(a))
                .append("$sortKey", new BsonArray(List.of(new BsonString("?")))),
            new BsonDocumentCodec());
    byte[] bytes = document.getByteBuffer().array();
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '?') {
        bytes[i] = (byte) keyByte;
      }
    }
    return new RawBsonDocument(bytes, 0, document.getByteBuffer().remaining());
  }

  @Test
  void removesSortKeyFromDocuments() {
    assertThat(first(merged(SortKeys.of(ASCENDING), 0, 0, shard(1)), 1).get(0))
        .isEqualTo(new BsonDocument("a", new BsonInt32(1)));
  }

  @Test
  void skipAndLimitApplyToMergedResult() {
    MergedCursor cursor = merged(SortKeys.of(ASCENDING), 2, 3, shard(1, 4, 5, 8), shard(2, 3, 9));

    assertThat(values(first(cursor, 100))).containsExactly(3, 4, 5);
    assertThat(cursor.isExhausted()).isTrue();
  }

  @Test
  void lastBatchEndsCursor() {
    MergedCursor cursor = merged(SortKeys.of(ASCENDING), 0, 0, shard(1, 3), shard(2, 4));

    assertThat(values(first(cursor, 3))).containsExactly(1, 2, 3);
    assertThat(cursor.isExhausted()).isFalse();

    BsonDocument last = cursor.getMore(new BsonDocument("getMore", new BsonInt64(77)), 77).block();
    assertThat(last.getDocument("cursor").getInt64("id").getValue()).isZero();
    assertThat(CursorReplies.documents(last)).hasSize(1);
  }

  /** A batch is not larger than the messages that clients accept. */
  @Test
  void limitsBytesOfBatch() {
    for (SortKeys order : new SortKeys[] {null, SortKeys.of(ASCENDING)}) {
      MergedCursor cursor = merged(order, 1, 0, large(1, 3, 5), large(2, 4, 6));

      List<Integer> all = new ArrayList<>(values(first(cursor, 100)));
      assertThat(all).hasSize(1);
      while (!cursor.isExhausted()) {
        BsonDocument more = cursor.getMore(new BsonDocument(), 77).block();
        assertThat(CursorReplies.documents(more)).hasSize(1);
        all.addAll(values(CursorReplies.documents(more)));
      }
      // The skip removes document 1: it is the first document of the first shard, and the smallest
      // document.
      assertThat(all).containsExactlyInAnyOrder(2, 3, 4, 5, 6);
    }
  }

  private static Source large(int... values) {
    List<BsonDocument> documents = new ArrayList<>();
    for (BsonDocument each : documents(values)) {
      documents.add(each.append("large", new BsonBinary(new byte[Batch.MOST_BYTES / 2])));
    }
    return new Source(CursorReplies.first("d.c", 0, documents), null);
  }

  @Test
  void returnsEachDocumentOnceWithoutSort() {
    assertThat(values(first(merged(null, 0, 0, shard(3, 1), shard(2)), 100)))
        .containsExactlyInAnyOrder(1, 2, 3);
  }

  private static MergedCursor merged(
      @Nullable SortKeys order, long skip, long limit, Source... shards) {
    return new MergedCursor("d.c", List.of(shards), order, skip, limit);
  }

  private static Source shard(int... values) {
    return new Source(CursorReplies.first("d.c", 0, documents(values)), null);
  }

  private static List<BsonDocument> documents(int... values) {
    return Arrays.stream(values)
        .mapToObj(v -> BsonDocument.parse("{a: %d, $sortKey: [%d]}".formatted(v, v)))
        .toList();
  }

  private static List<BsonDocument> first(MergedCursor cursor, int batchSize) {
    return cursor.firstBatch(new BsonInt32(batchSize)).block();
  }

  private static List<Integer> values(List<? extends BsonDocument> documents) {
    return documents.stream().map(each -> each.getInt32("a").getValue()).toList();
  }
}
