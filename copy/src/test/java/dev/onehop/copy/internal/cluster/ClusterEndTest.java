package dev.onehop.copy.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The features of a cluster that a copy may use. They depend on the versions of the cluster. */
class ClusterEndTest {
  @ParameterizedTest
  @CsvSource({"13, 5.0, false, false", "17, 5.0, false, true", "17, 6.0, true, true"})
  void detectsFeaturesFromVersionOfServer(
      int maxWireVersion, String compatibility, boolean uuids, boolean creations)
      throws InterruptedException {
    try (ScriptedReplicaSet member = new ScriptedReplicaSet(maxWireVersion, compatibility);
        ClusterEnd end = member.connect("source")) {
      EndCheck.forCopy(end);
      assertThat(end.takesUuids()).isEqualTo(uuids);
      assertThat(EndCheck.tellsCreations(end)).isEqualTo(creations);
    }
  }

  @Test
  void stopsSendingRejectedUuid() throws InterruptedException {
    try (ScriptedReplicaSet member = new ScriptedReplicaSet();
        ClusterEnd end = member.connect("source")) {
      EndCheck.forCopy(end);
      assertThat(end.isUuidRefused(BsonDocument.parse("{ok: 0, code: 72, errmsg: 'Bad option'}")))
          .isFalse();
      assertThat(end.takesUuids()).isTrue();
      assertThat(
              end.isUuidRefused(
                  BsonDocument.parse(
                      "{ok: 0, code: 40415, errmsg: \"BSON field 'drop.collectionUUID' is an"
                          + " unknown field.\"}")))
          .isTrue();
      assertThat(end.takesUuids()).isFalse();
    }
  }

  /** A resumed job needs the cluster time at its start, before it has read anything. */
  @Test
  void hasClusterTimeBeforeFirstRead() throws InterruptedException {
    try (ScriptedReplicaSet member = new ScriptedReplicaSet()) {
      member.clusterTime(new BsonTimestamp(5, 1));
      try (ClusterEnd end = member.connect("source")) {
        assertThat(end.clusterTime()).isEqualTo(new BsonTimestamp(5, 1));
      }
    }
  }
}
