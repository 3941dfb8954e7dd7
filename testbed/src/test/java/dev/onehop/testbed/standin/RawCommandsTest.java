package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Raw commands that every server refuses get the servers' error. The scripted shards accept
 * everything, so the errors are those of the router.
 */
class RawCommandsTest {
  private static final int WIRE_6_0 = 17;

  private static ScriptedCluster cluster;

  @BeforeAll
  static void start() {
    cluster = new ScriptedCluster(WIRE_6_0).routedBy(state -> new MongosRouter(state, false));
    for (String shard : List.of("s0", "s1")) {
      cluster.script(
          shard,
          got -> got.getFirstKey().equals("count") ? BsonDocument.parse("{ok: 1.0, n: 7}") : null);
    }
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** The error codes are those of mongod 6.0.5. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {find: 5}                                                    | 2     | collection name has invalid type int
          {find: ''}                                                   | 73    | Invalid namespace
          {find: 'c', filter: 5}                                       | 14    | 'find.filter' is the wrong type 'int', expected type 'object'
          {find: 'c', sort: 'a'}                                       | 14    | 'find.sort' is the wrong type 'string'
          {find: 'c', projection: true}                                | 14    | 'find.projection' is the wrong type 'bool'
          {find: 'c', skip: -1}                                        | 51024 | BSON field 'skip' value must be >= 0, actual value '-1'
          {find: 'c', skip: 'x'}                                       | 14    | 'find.skip' is the wrong type 'string', expected types '[long, int, decimal, double]'
          {find: 'c', limit: -1}                                       | 51024 | BSON field 'limit' value must be >= 0, actual value '-1'
          {find: 'c', limit: {$numberLong: '-9223372036854775808'}}    | 51024 | actual value '-9223372036854775808'
          {find: 'c', batchSize: -1}                                   | 51024 | BSON field 'batchSize' value must be >= 0, actual value '-1'
          {find: 'c', batchSize: {$numberDecimal: '-3'}}               | 51024 | actual value '-3'
          {find: 'c', singleBatch: 1}                                  | 14    | 'find.singleBatch' is the wrong type 'int', expected type 'bool'
          {find: 'c', allowPartialResults: 'x'}                        | 14    | 'find.allowPartialResults'
          {find: 'c', noCursorTimeout: 'x'}                            | 14    | 'find.noCursorTimeout'
          {find: 'c', collation: 5}                                    | 14    | 'find.collation'
          {find: 'c', let: 5}                                          | 14    | 'find.let'
          {find: 'c', readConcern: 5}                                  | 14    | 'find.readConcern'
          {find: 'c', autocommit: 1}                                   | 14    | 'find.autocommit'
          {find: 'c', autocommit: false}                               | 72    | transaction number
          {aggregate: {}, pipeline: [], cursor: {}}                    | 9     | must specify a collection name or 1
          {aggregate: 'c', pipeline: 5, cursor: {}}                    | 14    | 'aggregate.pipeline' is the wrong type 'int', expected type 'array'
          {aggregate: 'c', cursor: {}}                                 | 40414 | BSON field 'aggregate.pipeline' is missing but a required field
          {aggregate: 'c', pipeline: [5], cursor: {}}                  | 14    | 'aggregate.pipeline.0' is the wrong type 'int', expected type 'object'
          {aggregate: 'c', pipeline: [{}], cursor: {}}                 | 40323 | exactly one field
          {aggregate: 'c', pipeline: [], cursor: 5}                    | 14    | 'aggregate.cursor'
          {aggregate: 'c', pipeline: [], cursor: {batchSize: -1}}      | 51024 | BSON field 'batchSize' value must be >= 0
          {aggregate: 'c', pipeline: [], cursor: {batchSize: 'x'}}     | 14    | 'cursor.batchSize' is the wrong type 'string'
          {aggregate: 'c', pipeline: [{$skip: -1}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}                        | 5107200 | Expected a non-negative number in: $skip: -1
          {aggregate: 'c', pipeline: [{$limit: -1}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}                       | 5107201 | Expected a non-negative number in: $limit: -1
          {aggregate: 'c', pipeline: [{$limit: 0}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}                        | 15958   | the limit must be positive
          {aggregate: 'c', pipeline: [{$limit: 1.5}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}                      | 5107201 | Expected an integer in: $limit: 1.5
          {count: 5}                                                   | 73    | collection name has invalid type int
          {count: 'c', query: 5}                                       | 14    | 'count.query'
          {count: 'c', skip: -1}                                       | 51024 | BSON field 'skip' value must be >= 0
          {count: 'c', limit: {$numberLong: '-9223372036854775808'}}   | 2     | limit value for count cannot be min long
          {distinct: 'c', key: 'a', query: 5}                          | 14    | 'distinct.query'
          {distinct: 'c', key: 'a', collation: 5}                      | 14    | 'distinct.collation'
          {findAndModify: 'c', query: 5, remove: true}                 | 14    | 'findAndModify.query'
          {getMore: 5, collection: 'c'}                                | 14    | 'getMore.getMore' is the wrong type 'int', expected type 'long'
          {getMore: {$numberLong: '5'}}                                | 40414 | 'getMore.collection' is missing
          {getMore: {$numberLong: '5'}, collection: 'c'}               | 43    | cursor id 5 not found
          {getMore: {$numberLong: '5'}, collection: 'c', batchSize: -1}| 51024 | BSON field 'batchSize'
          {killCursors: 'c'}                                           | 40414 | 'killCursors.cursors' is missing
          {killCursors: 'c', cursors: ['x']}                           | 14    | 'killCursors.cursors.0' is the wrong type 'string', expected type 'long'
          {insert: 'c', documents: 5}                                  | 14    | 'insert.documents'
          {insert: 'c', documents: [5]}                                | 14    | 'insert.documents.0'
          {update: 'c', updates: [{q: 5, u: {}}]}                      | 14    | 'update.updates.q'
          {update: 'c', updates: [{q: {}}]}                            | 40414 | 'update.updates.u' is missing
          {update: 'c', updates: [{q: {}, u: {$set: {a: 1}}, multi: 1}]}   | 14 | 'update.updates.multi' is the wrong type 'int', expected type 'bool'
          {update: 'c', updates: [{q: {}, u: {$set: {a: 1}}, upsert: 'x'}]}| 14 | 'update.updates.upsert'
          {delete: 'c', deletes: [{q: 5, limit: 1}]}                   | 14    | 'delete.deletes.q'
          {delete: 'c', deletes: [{q: {}}]}                            | 40414 | 'delete.deletes.limit' is missing
          {explain: 5}                                                 | 14    | 'explain.explain'
          {explain: {find: 5}}                                         | 2     | collection name has invalid type int
          {explain: {aggregate: 'c', pipeline: 5}}                     | 14    | 'aggregate.pipeline'
          {listIndexes: 5}                                             | 2     | collection name has invalid type int
          """)
  void areRejectedAsByServer(String command, int code, String message) {
    BsonDocument reply = run(command);
    assertThat(reply.getNumber("ok").intValue()).isZero();
    assertThat(reply).containsEntry("code", new BsonInt32(code));
    assertThat(reply.getString("errmsg").getValue()).contains(message);
  }

  /** The router interprets these values like the servers: as absent, or as another number. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {find: 'c', skip: null, limit: null, batchSize: null}
          {find: 'c', skip: {$numberDouble: 'NaN'}}
          {find: 'c', skip: {$numberDouble: '1e300'}}
          {find: 'c', skip: {$numberDecimal: '1E+6000'}, limit: 5}
          {find: 'c', skip: {$numberDecimal: '-0'}}
          {find: 'c', skip: {$numberDecimal: 'Infinity'}}
          {find: 'c', limit: {$numberLong: '9223372036854775807'}, skip: 5}
          {find: 'c', batchSize: {$numberLong: '99999999999'}}
          {find: 'c', collation: null, let: null}
          {count: 'c', query: null, skip: null}
          {count: 'c', skip: 1.5, limit: {$numberLong: '9223372036854775807'}}
          {aggregate: 'c', pipeline: [], cursor: {batchSize: null}}
          """)
  void areAcceptedAsByServer(String command) {
    assertThat(run(command).getNumber("ok").intValue()).isEqualTo(1);
  }

  private static BsonDocument run(String command) {
    return cluster.execute(command.replaceFirst("}$", ", \\$db: 'it'}"));
  }
}
