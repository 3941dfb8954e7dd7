package dev.onehop.shards.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class WriteResultTest {
  private final WriteResult result = new WriteResult();

  @Test
  void countsAddUpAndIndexesAreTheBatchsOwn() {
    result.add(
        BsonDocument.parse("{n: 2, nModified: 1, upserted: [{index: 1, _id: 'u'}], ok: 1}"),
        List.of(0, 3));
    result.add(
        BsonDocument.parse("{n: 0, nModified: 0, writeErrors: [{index: 0, code: 11000}], ok: 1}"),
        List.of(2));

    assertThat(result.toReply())
        .isEqualTo(
            BsonDocument.parse(
                "{n: 2, nModified: 1, upserted: [{index: 3, _id: 'u'}],"
                    + " writeErrors: [{index: 2, code: 11000}], ok: 1.0}"));
  }

  @Test
  void staleStatementsAreNoErrors() {
    List<Integer> stale =
        result.add(
            BsonDocument.parse(
                "{n: 1, ok: 1, writeErrors: [{index: 1, code: 13388, errmsg: 'version'},"
                    + " {index: 2, code: 13388, errmsg: ''}]}"),
            List.of(4, 5, 9));

    assertThat(stale).containsExactly(5, 9);
    assertThat(result.lastRefusal().getString("errmsg").getValue()).isEqualTo("version");
    assertThat(result.toReply()).isEqualTo(BsonDocument.parse("{n: 1, ok: 1.0}"));
  }

  @Test
  void theFirstWriteConcernErrorStaysBesideWhatIsCarriedOut() {
    result.add(
        BsonDocument.parse("{n: 1, ok: 1, writeConcernError: {code: 64, errmsg: 'waiting'}}"),
        List.of(0));
    result.add(
        BsonDocument.parse("{n: 1, ok: 1, writeConcernError: {code: 91, errmsg: 'shutdown'}}"),
        List.of(1));

    assertThat(result.isFinal(true)).isFalse();
    assertThat(result.toReply())
        .isEqualTo(
            BsonDocument.parse(
                "{n: 2, writeConcernError: {code: 64, errmsg: 'waiting'}, ok: 1.0}"));
  }

  @Test
  void orderedBatchIsFinalAfterItsFirstError() {
    result.add(
        BsonDocument.parse("{n: 0, ok: 1, writeErrors: [{index: 0, code: 11000}]}"), List.of(0));

    assertThat(result.isFinal(true)).isTrue();
    assertThat(result.isFinal(false)).isFalse();
  }

  @Test
  void failureOfAWholeCommandIsTheAnswer() {
    BsonDocument failure = BsonDocument.parse("{ok: 0, code: 11600, errmsg: 'shutdown'}");
    result.add(failure, List.of(0));

    assertThat(result.isFinal(false)).isTrue();
    assertThat(result.toReply()).isEqualTo(failure);
  }

  @Test
  void latestTimesAreKept() {
    result.add(
        BsonDocument.parse("{n: 1, ok: 1, operationTime: {$timestamp: {t: 5, i: 1}}}"), List.of(0));
    result.add(
        BsonDocument.parse("{n: 1, ok: 1, operationTime: {$timestamp: {t: 4, i: 9}}}"), List.of(1));

    assertThat(result.toReply().getTimestamp("operationTime").getTime()).isEqualTo(5);
  }
}
