package dev.onehop.shards.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WriteResultTest {
  private final WriteResult result = result("{insert: 'c'}", 4);

  private static WriteResult result(String command, int statements) {
    return new WriteResult(OpMsg.command(BsonDocument.parse(command)), statements);
  }

  @Test
  void addsCountsAndMapsIndexes() {
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
  void staleStatementsAreNotReported() {
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
  void mergesWriteConcernErrorsLikeMongos() {
    result.add(
        "s1",
        BsonDocument.parse(
            "{n: 1, ok: 1, writeConcernError: {code: 100, codeName: 'UnsatisfiableWriteConcern',"
                + " errmsg: 'Not enough data-bearing nodes', errInfo: {wtimeout: true}}}"),
        List.of(0));
    assertThat(result.toReply().getDocument("writeConcernError"))
        .isEqualTo(
            BsonDocument.parse(
                "{code: 100, codeName: 'UnsatisfiableWriteConcern',"
                    + " errmsg: 'Not enough data-bearing nodes at s1'}"));

    result.add(
        "s0",
        BsonDocument.parse(
            "{n: 1, ok: 1, writeConcernError: {code: 91, codeName: 'ShutdownInProgress',"
                + " errmsg: 'shutdown'}}"),
        List.of(1));

    assertThat(result.isFinal(true)).isFalse();
    assertThat(result.toReply())
        .isEqualTo(
            BsonDocument.parse(
                "{n: 2, writeConcernError: {code: 64, codeName: 'WriteConcernFailed',"
                    + " errmsg: 'multiple errors reported : UnsatisfiableWriteConcern: Not enough"
                    + " data-bearing nodes at s1 :: and :: ShutdownInProgress: shutdown at s0'},"
                    + " ok: 1.0}"));
  }

  @Test
  void extendsMergedWriteConcernErrorOfMongos() {
    result.add(
        BsonDocument.parse(
            "{n: 2, ok: 1, writeConcernError: {code: 64, codeName: 'WriteConcernFailed',"
                + " errmsg: 'multiple errors reported : A: a at s0 :: and :: B: b at s1'}}"),
        List.of(0, 1));
    result.add(
        BsonDocument.parse(
            "{n: 1, ok: 1, writeConcernError: {code: 5, codeName: 'C', errmsg: 'c at s2'}}"),
        List.of(2));

    assertThat(result.toReply().getDocument("writeConcernError").getString("errmsg").getValue())
        .isEqualTo(
            "multiple errors reported : A: a at s0 :: and :: B: b at s1 :: and :: C: c at s2");
  }

  @ParameterizedTest
  @CsvSource({"true, 2, false", "false, 1, false", "false, 2, true"})
  void reportsBothErrorsOnlyForPartialUnorderedBatch(
      boolean ordered, int statements, boolean reported) {
    WriteResult batch = result("{insert: 'c', ordered: " + ordered + "}", statements);
    batch.add(
        "s0",
        BsonDocument.parse(
            "{n: 1, ok: 1, writeErrors: [{index: 0, code: 11000}],"
                + " writeConcernError: {code: 64, errmsg: 'waiting'}}"),
        List.of(0, 1));

    assertThat(batch.toReply().containsKey("writeConcernError")).isEqualTo(reported);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          # A part that wrote: the others may have been the first to write nothing.
          {} | {n: 1, ok: 1} | [Overload]
          {txnNumber: 1} | {n: 1, ok: 1} | [Overload, RetryableError]
          # All failed alike.
          {} | {ok: 0, errorLabels: ['Overload', 'RetryableError', 'NoWritesPerformed']} \
             | [Overload, RetryableError, NoWritesPerformed]
          # Another failed for good.
          {txnNumber: 1} | {ok: 0, code: 13} | [Overload]
          {txnNumber: 1} | {n: 0, ok: 1, writeErrors: [{index: 0, code: 11000}]} | [Overload]
          # Another found nothing to write.
          {} | {n: 0, ok: 1} | [Overload, RetryableError, NoWritesPerformed]
          """)
  void returnsLabelsValidForWholeBatch(String command, String other, String expected) {
    WriteResult batch = result("{insert: 'c', " + command.substring(1), 2);
    batch.add("s0", BsonDocument.parse(other), List.of(0));
    batch.add(
        "s1",
        BsonDocument.parse(
            "{ok: 0, code: 462, baseBackoffMS: 250,"
                + " errorLabels: ['Overload', 'RetryableError', 'NoWritesPerformed']}"),
        List.of(1));

    assertThat(
            batch.toReply().getArray("errorLabels").stream()
                .map(each -> each.asString().getValue())
                .toList())
        .hasToString(expected);
    assertThat(batch.toReply())
        .containsEntry("code", new BsonInt32(462))
        .containsEntry("baseBackoffMS", new BsonInt32(250));
  }

  @Test
  void orderedBatchIsFinalAfterItsFirstError() {
    result.add(
        BsonDocument.parse("{n: 0, ok: 1, writeErrors: [{index: 0, code: 11000}]}"), List.of(0));

    assertThat(result.isFinal(true)).isTrue();
    assertThat(result.isFinal(false)).isFalse();
  }

  @Test
  void failureOfCommandIsReply() {
    BsonDocument failure = BsonDocument.parse("{ok: 0, code: 11600, errmsg: 'shutdown'}");
    result.add(failure, List.of(0));

    assertThat(result.isFinal(false)).isTrue();
    assertThat(result.toReply()).isEqualTo(failure);
  }

  /** The first statement may have been executed, so the driver must not send the batch again. */
  @Test
  void unknownOutcomePreventsRetry() {
    result.addError(0, new CommandFailure(6, "HostUnreachable", "the connection broke"));
    result.add(
        BsonDocument.parse(
            "{ok: 0, code: 462, errorLabels: ['SystemOverloadedError', 'RetryableError',"
                + " 'NoWritesPerformed']}"),
        List.of(1));

    assertThat(result.toReply())
        .isEqualTo(
            BsonDocument.parse(
                "{n: 0, writeErrors: [{index: 0, code: 6, errmsg: 'the connection broke'}], ok: 0,"
                    + " code: 462, errorLabels: ['SystemOverloadedError']}"));
  }

  @Test
  void keepsLatestOperationTime() {
    result.add(
        BsonDocument.parse("{n: 1, ok: 1, operationTime: {$timestamp: {t: 5, i: 1}}}"), List.of(0));
    result.add(
        BsonDocument.parse("{n: 1, ok: 1, operationTime: {$timestamp: {t: 4, i: 9}}}"), List.of(1));

    assertThat(result.toReply().getTimestamp("operationTime").getTime()).isEqualTo(5);
  }
}
