package com.example;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import java.time.Duration;
import org.bson.Document;

/** Orders in a collection that is sharded by customer. */
public final class Orders {
  private final MongoCollection<Document> collection;

  public Orders(MongoClient client, String database) {
    this.collection = client.getDatabase(database).getCollection("orders");
  }

  public void place(String customer, int amount) {
    collection.insertOne(new Document("customer", customer).append("amount", amount));
  }

  /** Finds one order. The filter has the shard key, so the query goes to one shard. */
  public Document of(String customer) {
    return collection.find(Filters.eq("customer", customer)).first();
  }

  /** The argument is the connection string of the cluster's mongoses. */
  public static void main(String[] args) {
    try (OneHop router = OneHop.builder(args[0]).build();
        MongoClient client = MongoClients.create(router.syncClientSettings())) {
      System.out.println(router.ready(Duration.ofSeconds(10), "shop.orders"));
      Orders orders = new Orders(client, "shop");
      orders.place("ada", 10);
      System.out.println(orders.of("ada").toJson());
      System.out.println(router.explain("shop.orders", Filters.eq("customer", "ada")).reason());
    }
  }
}
