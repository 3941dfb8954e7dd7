package dev.onehop.shards.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * For some replies to {@code connectionStatus}, whether a shard of 8.0 refuses the user's direct
 * operations.
 */
class ClusterCheckTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {authenticatedUsers: [], authenticatedUserPrivileges: []} | false
          {authenticatedUsers: [{user: 'u', db: 'admin'}], authenticatedUserPrivileges: \
          [{resource: {db: 'd', collection: ''}, actions: ['find']}]} | true
          {authenticatedUsers: [{user: 'u', db: 'admin'}], authenticatedUserPrivileges: \
          [{resource: {cluster: true}, actions: ['issueDirectShardOperations']}]} | false
          {authenticatedUsers: [{user: 'u', db: 'admin'}], authenticatedUserPrivileges: \
          [{resource: {anyResource: true}, actions: ['anyAction']}]} | false
          {authenticatedUsers: [{user: 'u', db: 'admin'}]} | true
          """)
  void missingRoleIsFound(String authInfo, boolean lacking) {
    BsonDocument reply = new BsonDocument("authInfo", BsonDocument.parse(authInfo));

    assertThat(ClusterCheck.lacksDirectOperations(reply)).isEqualTo(lacking);
  }
}
