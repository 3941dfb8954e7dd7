package dev.onehop.it;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.Testbed;
import java.util.List;

/**
 * Two sharded clusters. The source has three shards, and the destination has two.
 *
 * @param from a client of the source
 * @param to a client of the destination
 */
record TwoClusters(Testbed source, Testbed destination, MongoClient from, MongoClient to)
    implements AutoCloseable {
  /**
   * Starts both clusters at the same time.
   *
   * @param name the beginning of the names of their topologies
   * @param network the second number of the source's IP addresses; the destination has the next
   *     number
   */
  static TwoClusters start(String name, int network) {
    List<Testbed> both =
        InParallel.call(
            2,
            2,
            i ->
                Testbed.builder(
                        NearShards.topology(name + (i == 0 ? "-from" : "-to"), network + i, 3 - i))
                    .start());
    return new TwoClusters(
        both.get(0),
        both.get(1),
        MongoClients.create(both.get(0).url()),
        MongoClients.create(both.get(1).url()));
  }

  @Override
  public void close() {
    from.close();
    to.close();
    source.close();
    destination.close();
  }
}
