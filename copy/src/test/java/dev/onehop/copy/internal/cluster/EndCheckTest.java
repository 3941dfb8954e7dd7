package dev.onehop.copy.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.progress.CopyException;
import org.junit.jupiter.api.Test;

/** Each cluster is one scripted server, which is a member of a replica set or a mongos. */
class EndCheckTest {
  @Test
  void rejectsOldVersion() throws InterruptedException {
    try (ScriptedReplicaSet member = new ScriptedReplicaSet(9, "4.4");
        ClusterEnd end = member.connect("source")) {
      assertThatThrownBy(() -> EndCheck.check(end))
          .isInstanceOf(CopyException.class)
          .hasMessageContaining("the source has the feature compatibility version 4.4");
    }
  }

  @Test
  void rejectsShardOfCluster() throws InterruptedException {
    try (ScriptedReplicaSet member = new ScriptedReplicaSet();
        ClusterEnd end = member.connect("destination")) {
      member.store("admin.system.version", "{_id: 'shardIdentity'}");
      assertThatThrownBy(() -> EndCheck.forCopy(end))
          .isInstanceOf(CopyException.class)
          .hasMessageContaining("the destination's URL names a shard");
    }
  }

  @Test
  void replicaSetIsIdentifiedByMembers() throws InterruptedException {
    try (ScriptedReplicaSet member = new ScriptedReplicaSet();
        ClusterEnd end = member.connect("source")) {
      String host = end.hello().getString("me").getValue();
      assertThat(ClusterIdentity.ofJob(end)).containsExactly("rs/" + host);
      assertThat(ClusterIdentity.inWords(end)).isEqualTo("replica set rs[" + host + "]");
    }
  }

  @Test
  void shardedClusterIsIdentifiedById() throws InterruptedException {
    try (ScriptedReplicaSet mongos = new ScriptedReplicaSet().asMongos();
        ClusterEnd end = mongos.connect("source")) {
      mongos.store("config.version", "{_id: 1, clusterId: {$oid: '0123456789abcdef01234567'}}");
      assertThat(ClusterIdentity.ofJob(end))
          .containsExactly("BsonObjectId{value=0123456789abcdef01234567}");
      assertThat(ClusterIdentity.inWords(end)).isEqualTo("cluster 0123456789abcdef01234567");
    }
  }
}
