package dev.onehop.shards.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.message.OpMsg;
import org.bson.BsonDocument;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryabilityTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {find: 'c', $db: 'd'} | READ
          {insert: 'c', $db: 'd'} | NEVER
          {insert: 'c', $db: 'd', txnNumber: 1} | WRITE
          {insert: 'c', $db: 'd', txnNumber: 1, autocommit: false} | NEVER
          {find: 'c', $db: 'd', txnNumber: 1, autocommit: false} | NEVER
          {getMore: 1, $db: 'd'} | NEVER
          {aggregate: 'c', pipeline: [{$match: {}}], $db: 'd'} | READ
          {aggregate: 'c', pipeline: [], $db: 'd'} | READ
          {aggregate: 'c', pipeline: 5, $db: 'd'} | READ
          {aggregate: 'c', pipeline: [{$match: {}}, {$out: 'o'}], $db: 'd'} | NEVER
          {aggregate: 'c', pipeline: [{$merge: {into: 'o'}}], $db: 'd'} | NEVER
          """)
  void dependsOnCommand(String command, Retryability expected) {
    assertThat(Retryability.of(OpMsg.command(BsonDocument.parse(command)))).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {ok: 0, code: 10107} | true | true
          {ok: 0, code: 91} | true | true
          {ok: 0, code: 987654, errmsg: 'an unknown code'} | false | false
          {ok: 0, code: 11000} | false | false
          {ok: 0, code: 13388} | false | false
          {ok: 1, n: 1, writeConcernError: {code: 91}} | false | true
          {ok: 1, n: 1, writeConcernError: {code: 64}} | false | false
          {ok: 1, n: 1} | false | false
          {ok: 0, code: 1, errorLabels: ['RetryableWriteError']} | true | true
          {ok: 0, code: 462, errorLabels: ['SystemOverloadedError', 'RetryableError']} | false | false
          {ok: 0, code: 91, errorLabels: ['SystemOverloadedError', 'RetryableWriteError']} | false | false
          """)
  void dependsOnReply(String reply, boolean read, boolean write) {
    BsonDocument answer = BsonDocument.parse(reply);

    assertThat(Retryability.READ.isAgainAfter(answer)).isEqualTo(read);
    assertThat(Retryability.WRITE.isAgainAfter(answer)).isEqualTo(write);
    assertThat(Retryability.NEVER.isAgainAfter(answer)).isFalse();
  }
}
