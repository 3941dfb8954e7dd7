package com.example;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import org.bson.Document;
import reactor.core.publisher.Mono;

/** Orders in a collection that is sharded by customer. */
public final class Orders {
  private final MongoCollection<Document> collection;

  public Orders(MongoClient client, String database) {
    this.collection = client.getDatabase(database).getCollection("orders");
  }

  public Mono<Void> place(String customer, int amount) {
    return Mono.from(
            collection.insertOne(new Document("customer", customer).append("amount", amount)))
        .then();
  }

  /** Finds one order. The filter has the shard key, so the query goes to one shard. */
  public Mono<Document> of(String customer) {
    return Mono.from(collection.find(Filters.eq("customer", customer)).first());
  }

  /** The argument is the connection string of the cluster's mongoses. */
  public static void main(String[] args) {
    try (OneHop router = OneHop.builder(args[0]).build();
        MongoClient client = MongoClients.create(router.clientSettings())) {
      Orders orders = new Orders(client, "shop");
      System.out.println(orders.place("ada", 10).then(orders.of("ada")).block().toJson());
    }
  }
}
