package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster that starts with the data of an earlier run is as durable as a new cluster. */
@Tag("full")
class FormedClusterIT {
  private static final String SHARD = "127.46.0.1:27018";
  private static final Topology TOPOLOGY =
      Topology.parse(
          "formed.yaml",
          """
          name: formed
          regions: [here]
          roundTrips:
            here <-> here: 0
          hosts:
            h: {region: here, address: 127.46.0.1}
          client: h
          configServers: [h]
          shards: {one: [h]}
          mongos: [h]
          """);

  @Test
  void serverKilledSoonAfterStartKeepsWrites() {
    // This start forms the cluster, unless an earlier run has formed it.
    Testbed.builder(TOPOLOGY).start().close();
    try (Testbed testbed = Testbed.builder(TOPOLOGY).start();
        MongoClient client = MongoClients.create(testbed.url())) {
      MongoCollection<Document> collection =
          client
              .getDatabase("it")
              .getCollection("durable")
              .withWriteConcern(WriteConcern.MAJORITY.withJournal(true));
      collection.insertMany(Numbered.documents(100));

      testbed.kill(SHARD);
      testbed.restart(SHARD);

      assertThat(collection.countDocuments()).isEqualTo(100);
    }
  }
}
