package dev.onehop.copy.internal.cluster;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.progress.CopyException;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The message about missing privileges. */
class RightsTest {
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd end = server.connect("source");

  private void privileges(String... json) {
    server.script(
        command ->
            command.getFirstKey().equals("connectionStatus")
                ? BsonDocument.parse(
                    "{ok: 1, authInfo: {authenticatedUsers: [{user: 'u', db: 'admin'}],"
                        + " authenticatedUserPrivileges: [%s]}}".formatted(String.join(", ", json)))
                : null);
  }

  private void check() throws InterruptedException {
    Rights rights = new Rights();
    rights.ofSource(end, List.of("d"));
    rights.ofDestination(end, List.of("e"), "onehop_copy");
    rights.check();
  }

  /** Without access control, every command is allowed, so no privilege is missing. */
  @Test
  void acceptsServerWithoutAccessControl() throws InterruptedException {
    check();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{resource: {anyResource: true}, actions: ['anyAction']}",
        "{resource: {db: '', collection: ''}, actions: ['find', 'listCollections', 'listIndexes',"
            + " 'collStats', 'changeStream', 'insert', 'update', 'remove', 'createCollection',"
            + " 'createIndex', 'collMod', 'dropCollection', 'bypassDocumentValidation']}"
      })
  void acceptsUserWithAllPrivileges(String privilege) throws InterruptedException {
    privileges(privilege);
    check();
  }

  @Test
  void reportsAllMissingPrivileges() {
    privileges(
        "{resource: {db: 'd', collection: ''}, actions: ['find', 'listIndexes', 'collStats',"
            + " 'changeStream']}",
        "{resource: {db: 'd', collection: 'c'}, actions: ['listCollections']}",
        "{resource: {db: 'e', collection: ''}, actions: ['anyAction']}",
        "{resource: {db: 'onehop_copy', collection: ''}, actions: ['find', 'insert', 'update']}");
    assertThatThrownBy(this::check)
        .isInstanceOf(CopyException.class)
        .hasMessage(
            "the copy needs listCollections on d at the source;"
                + " remove, createCollection on onehop_copy at the destination");
  }
}
